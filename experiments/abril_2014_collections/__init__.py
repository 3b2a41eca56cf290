"""Abril (2014), Contributions to record linkage for disclosure risk assessment: the document collections of Chapter 4."""
