"""One eviction: its own verdict, the intent, the request, and the room that its replacement finds open."""
