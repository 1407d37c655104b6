"""The whole daemon in a simulated world that does its worst, judged by checkers that see the truth."""
