"""Kinds of files: each taken apart into pieces of text, and put back together with edits made."""
