"""Code that scans and exscans share.

families     declares scans and exscans
doubling     recursive doubling
chain        a pipelined chain
tree         the doubly pipelined in-order binary tree
tree_places  the place of a rank in this tree
tree_claims  its schedule and its other claims
"""
