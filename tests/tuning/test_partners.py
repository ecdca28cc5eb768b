"""The partners of ranks are those of the libraries' code, transcribed here from their loops."""

from __future__ import annotations

from itertools import product

from collectives import Case, find
from collectives.catalogue.schedule import Transfer
from collectives.patterns.pairs.rounds import distances, pair_rounds, partner
from fakempi.tuning import TABLES, Facts


def transfers(operation: str, name: str, case: Case) -> list[Transfer]:
    """Return the transfers of an algorithm, round by round."""
    plan = find(operation, name).schedule_for(case)
    assert plan is not None
    return [transfer for transfers in plan for transfer in transfers]


def bmtree(index: int, size: int) -> list[int]:
    """ompi_coll_base_topo_build_bmtree: children of an index, in the order of their sends."""
    mask, children = 1 << index.bit_length(), []  # opal_next_poweroftwo
    while mask < size and index ^ mask < size:
        children.append(index ^ mask)
        mask <<= 1
    return children


def test_a_binomial_broadcast_of_open_mpi_goes_to_near_ranks_first() -> None:
    """For every number of ranks and root; the other operations use the tree with halving distances."""
    for p in range(1, 34):
        for root in {0, p // 3, p - 1}:
            sent: dict[int, list[int]] = {}
            for transfer in transfers("bcast", "binomial_doubling", Case(p, 8, root=root)):
                sent.setdefault((transfer.source - root) % p, []).append((transfer.dest - root) % p)
            assert sent == {v: bmtree(v, p) for v in range(p) if bmtree(v, p)}
    assert TABLES["openmpi"].choose(Facts("bcast", 20, 5000)).algorithm.name == "binomial_doubling"
    assert TABLES["openmpi"].choose(Facts("gather", 20, 5000)).algorithm.name == "binomial"


def test_recursive_doubling_keeps_odd_ranks_as_both_libraries_do() -> None:
    """MPIR_Allreduce_intra_recursive_doubling and ompi_coll_base_allreduce_intra_recursivedoubling."""
    for p in range(2, 20):
        core = 1 << p.bit_length() - 1
        extra = p - core
        expected = {(2 * v, 2 * v + 1) for v in range(extra)} | {(2 * v + 1, 2 * v) for v in range(extra)}
        for new, mask in product(range(core), [1 << k for k in range(core.bit_length() - 1)]):
            source, dest = (v * 2 + 1 if v < extra else v + extra for v in (new, new ^ mask))
            expected.add((source, dest))
        case = Case(p, 8, parameters={"remaining": "odd"})
        assert {(t.source, t.dest) for t in transfers("allreduce", "recursive_doubling", case)} == expected


def test_pairs_in_ascending_order_are_those_of_sendrecv_replace() -> None:
    """`for i .. for j = i+1 ..` in MPICH: each rank meets the others in rank order."""
    for p in range(1, 12):
        for rank in range(p):
            met = [partner(rank, i, p, "ascending") for i in range(pair_rounds(p, "ascending"))]
            assert [other for other in met if other is not None] == [other for other in range(p) if other != rank]


def test_alternating_distances_are_those_of_open_mpis_exchanges_in_place() -> None:
    """For i = 1 .. p/2: to the left and from the right, then, unless both are one rank, the other way round."""
    for p in range(1, 12):
        expected = []
        for i in range(1, p // 2 + 1):
            expected += [-i] if 2 * i == p else [-i, i]
        assert distances(p, "alternating") == expected


def test_long_reduce_scatters_of_mpich_send_to_the_right() -> None:
    """In round i to rank + i, in p-1 rounds for odd p, too."""
    for p in (2, 3, 5, 8):
        plan = find("reduce_scatter_block", "pairwise").schedule_for(Case(p, 8, parameters={"partners": "spread"}))
        rounds = [{(t.source, t.dest) for t in transfers} for transfers in plan or ()]
        assert rounds == [{(r, (r + i) % p) for r in range(p)} for i in range(1, p)]


def test_a_folded_root_takes_the_place_of_rank_0() -> None:
    """`if (root % 2 != 0)` in MPIR_Reduce_intra_reduce_scatter_gather: rank 0 sends its piece to the root."""
    case = Case(6, 32, root=3, parameters={"keep_root": False})
    sent = [(t.source, t.dest, t.nbytes) for t in transfers("reduce", "rabenseifner", case)]
    assert sent[:2] == [(1, 0, 32), (3, 2, 32)]
    assert (0, 3, 8) in sent
    assert sent[-1][1] == 3
    kept = [(t.source, t.dest) for t in transfers("reduce", "rabenseifner", Case(6, 32, root=3))]
    assert (2, 3) in kept[:2]
