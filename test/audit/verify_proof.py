"""Checks a proof of the audit log by docs/audit-format.md alone: verify_proof.py PROOF PUBLIC_KEY, or --tree for vectors.

Written from the document, without a look at the service's code. Needs Python 3.9 and the package "cryptography".
"""

import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization


def sha256(data):
    return hashlib.sha256(data).digest()


def canonical(value):
    """RFC 8785 for what occurs here: objects, arrays, strings and whole numbers."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def leaf_hash(data):
    return sha256(b"\x00" + data)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def tree_root(leaves):
    """The definition of RFC 6962, section 2.1, word for word."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(tree_root(leaves[:split]), tree_root(leaves[split:]))


def root_of_path(leaf, index, size, path):
    """The root that the path gives, by the same recursion: which half of the tree is the leaf in?"""
    if size == 1:
        if path:
            raise ValueError("the path is too long")
        return leaf
    if not path:
        raise ValueError("the path is too short")
    split = 1
    while split * 2 < size:
        split *= 2
    if index < split:
        return node_hash(root_of_path(leaf, index, split, path[:-1]), path[-1])
    return node_hash(path[-1], root_of_path(leaf, index - split, size - split, path[:-1]))


def check(proof, public_key):
    def expect(holds, rule):
        if not holds:
            raise ValueError(rule)

    expect(proof["format"] == "plant-store audit proof" and proof["version"] == 1, "unknown format")
    plant, entry, block = proof["plant"], proof["entry"], proof["block"]
    expect(entry["action"] == "created" and entry["plant"] == plant["id"], "the entry is of another plant")
    expect(sha256(canonical(plant)).hex() == entry["content"], "the plant is not what was audited")

    expect(0 <= proof["index"] < block["entries"], "there is no such entry")
    path = [bytes.fromhex(step) for step in proof["path"]]
    root = root_of_path(leaf_hash(canonical(entry)), proof["index"], block["entries"], path)
    expect(root.hex() == block["root"], "the entry is not in the block")

    head = block
    for header in proof["chain"]:
        expect(header["previous"] == sha256(canonical(head)).hex(), "a block does not follow the one before it")
        expect(header["chain"] == head["chain"], "a block is of another chain")
        expect(header["height"] == head["height"] + 1, "a height is left out")
        head = header

    anchor = proof["anchor"]
    heads = [one for one in anchor["heads"] if one["chain"] == head["chain"]]
    expect(len(heads) == 1 and heads[0]["height"] == head["height"], "the anchor does not name the last block")
    expect(heads[0]["hash"] == sha256(canonical(head)).hex(), "the anchor names another block")

    raw = public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    expect(anchor["key"] == sha256(raw).hex()[:16], "the anchor is signed with another key")
    body = {name: value for name, value in anchor.items() if name != "signature"}
    public_key.verify(bytes.fromhex(anchor["signature"]), canonical(body))


def tree_vectors():
    """Reads {"leaves": [hex], "index", "path": [hex]} lines and answers root and root of the path, for comparison."""
    for line in sys.stdin:
        vector = json.loads(line)
        leaves = [leaf_hash(bytes.fromhex(leaf)) for leaf in vector["leaves"]]
        answer = {"root": tree_root(leaves).hex()}
        if "path" in vector:
            path = [bytes.fromhex(step) for step in vector["path"]]
            index = vector["index"]
            answer["ofPath"] = root_of_path(leaves[index], index, len(leaves), path).hex()
        print(json.dumps(answer))


if __name__ == "__main__":
    if sys.argv[1:] == ["--tree"]:
        tree_vectors()
        sys.exit(0)
    with open(sys.argv[1], encoding="utf-8") as file, open(sys.argv[2], "rb") as pem:
        try:
            check(json.load(file), serialization.load_pem_public_key(pem.read()))
        except (ValueError, KeyError, TypeError, InvalidSignature) as error:
            print(f"FAULT: {error or 'the signature does not fit'}")
            sys.exit(1)
    print("proved")
