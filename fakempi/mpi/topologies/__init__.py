"""Topologies of communicators.

topology    grids and graphs: coordinates, ranks, neighbors
neighbors   neighborhood collectives: exchanges along the edges
"""
