import importlib.metadata

from lockstep_ray.python_packages import differing_packages, installed_packages
from lockstep_ray.roster import Member


def member(rank: int, **packages: str) -> Member:
    node = "w1" if rank < 2 else "w2"
    return Member(rank, 4, f"id-{node}", node, python_packages=packages)


def test_nothing_is_listed_where_no_packages_were_asked_for():
    assert installed_packages({"env_vars": {"A": "b"}, "pip": None}) == {}


def test_what_is_listed_are_the_versions_that_are_there():
    packages = installed_packages({"pip": {"packages": ["pytest>=1"]}})
    assert packages["pytest"] == importlib.metadata.version("pytest")


def test_nodes_with_the_same_packages_are_passed_over():
    assert differing_packages([member(0, numpy="2.1"), member(1, numpy="2.1"), member(2, numpy="2.1")]) == []
    assert differing_packages([member(0), member(2)]) == []


def test_a_package_that_differs_is_named_with_its_nodes():
    lines = differing_packages([member(0, numpy="2.1", six="1"), member(2, numpy="2.0"), member(3, numpy="2.0")])
    assert lines == ["numpy is 2.1 on w1, 2.0 on w2", "six is 1 on w1, none on w2"]
