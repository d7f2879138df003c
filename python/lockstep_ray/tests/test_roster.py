import pytest

from lockstep_ray.roster import Member, places, settled_count


def members(nodes: str) -> list[Member]:
    return [Member(rank, len(nodes), f"id-{name}", name, (str(rank % 4),)) for rank, name in enumerate(nodes)]


def test_local_ranks_count_on_each_node():
    found = places(members("aaabb"), 5)
    assert [(p.rank, p.local_rank, p.local_world_size) for p in found] == [
        (0, 0, 3),
        (1, 1, 3),
        (2, 2, 3),
        (3, 0, 2),
        (4, 1, 2),
    ]


def test_spare_ranks_have_no_place_and_count_for_no_other():
    found = places(members("aabb"), 3)
    assert len(found) == 3
    assert found[2].local_world_size == 1 and found[2].world_size == 3


def test_members_may_join_in_any_order():
    assert places(members("aabb")[::-1], 4) == places(members("aabb"), 4)


def test_each_worker_sees_the_gpus_of_its_node_by_local_rank():
    assert places(members("aaabb"), 5)[3].gpu_ids == ("3", "0")


@pytest.mark.parametrize(("world_size", "count"), [(4, 4), (3, 2), (2, 2), (8, 4), (1, 0)])
def test_the_largest_allowed_number_of_workers_is_used(world_size, count):
    assert settled_count(world_size, [4, 2]) == count
