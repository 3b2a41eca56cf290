"""Abril (2014), Contributions to record linkage for disclosure risk assessment: classic masking and distance-based linkage."""
