"""Former names of exercises, so that files and progress of students survive a change of numbers.

Three exercises on collective calls were inserted as 7 to 9 in 2026. A student's file `07_broadcast.py` is now exercise 10.
It is found under its former name; `fakempi learn` renames it. Each entry has the SHA-256 of the former start file, so that a
file that the student has not edited is recognized and replaced by the current text.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class FormerName:
    """A name that an exercise had, and the hash of its start file at that time."""

    name: str
    start: str

    @property
    def file(self) -> str:
        """The name that the student's file had."""
        return f"{self.name}.py"

    def is_start(self, text: bytes) -> bool:
        """Whether this is the start file of that time, unedited."""
        return sha256(text).hexdigest() == self.start


FORMER = {
    "10_broadcast": FormerName("07_broadcast", "67bae3a88538a99a683cadf289d5903f8b8a2f75c7fb6c3214d86aa3cde3a6c2"),
    "11_tree_against_chain": FormerName(
        "08_tree_against_chain", "41eb33259fa6e3df70aaffe8e829d9ab1503865b2441d05a54ff5a4967cf5b0b"
    ),
    "12_remainders": FormerName("09_remainders", "87448e1ec0b4066a5930f8f7b0f1a11da038d55f77d9dbbec8a9340a28960625"),
    "13_order": FormerName("10_order", "aa998477ea649c89d0142fc88679fe755d0834a71a529d5769eacbabd5f4feb4"),
    "14_split_by_node": FormerName("11_split_by_node", "7ee74ef4cab12e8e229408591210724152dc2da71aac0753449486f70c3fb356"),
    "15_halo": FormerName("12_halo", "3bea9170109742a38271321858070bd209b3ec6511e2d0390d50db281b46f446"),
    "16_lost_message": FormerName("13_lost_message", "3ae44de2f7460293a7607f60f9c1d3fe876c617fb350c9e77a8f27402a71d118"),
    "17_work_queue": FormerName("14_work_queue", "babf34d44532fc29e367478626294583e9fcec764225e4fef22096f38e197e24"),
    "18_buffer_reused": FormerName("15_buffer_reused", "8894c5db00e4cee94f1efb68e706d06c5de5321cbd64d271677bfa57bdbaed2a"),
    "19_types": FormerName("16_types", "0e23132952c56d9723950b2d0f32c1ae4cb4e0fb91cda35b7f1a0df9de7913a2"),
    "20_missing_rank": FormerName("17_missing_rank", "99d07a617d94e0a83c63cdca5643dc656823d4ba0d96d6eb66c49720b435af7e"),
    "21_ring_allgather": FormerName("18_ring_allgather", "6a924d3eca993568895800621dbefcdc435b17d23182a6063bf36e130741029a"),
    "22_pipeline": FormerName("19_pipeline", "9076e1c594f984e3592127c3524367389fde28221101a4509cce2b67396a6edc"),
    "23_blocked_ring": FormerName("20_blocked_ring", "e3ea53208b2488b78cf82d4b4349132402c438d799ef5f705af52951027618f7"),
    "24_two_groups": FormerName("21_two_groups", "bffbb2b9706ebadb570f0a960c295018f679a7d24f21e8cc24af06df717405af"),
    "25_split_that_scales": FormerName(
        "22_split_that_scales", "0cf1563031c89e28f86199061c395167994619a410a14745b7627f1eb36688fd"
    ),
}
