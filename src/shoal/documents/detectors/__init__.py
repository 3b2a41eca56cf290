"""Detectors: what should perhaps not leave a document, and why. They know nothing of each other, nor of redaction."""
