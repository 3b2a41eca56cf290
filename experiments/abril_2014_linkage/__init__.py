"""Abril (2014), Contributions to record linkage for disclosure risk assessment: the learned distances of Chapter 5."""
