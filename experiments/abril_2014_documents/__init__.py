"""Document sanitization: Abril (2014), Chapter 3, run again on declassified documents."""
