"""What builds, serves and checks the book. `python -m book` lists the commands."""
