"""Commands over recordings of many times or many clusters; they write to no cluster."""
