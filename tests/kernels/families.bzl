"""The kernels of //kernels: each library's name, its folder and its sources, for libraries of other targets."""

ALONE = [
    "dropout",
    "layer_norm",
    "rms_norm",
    "softmax",
    "vector_add",
]

OF_ATTENTION = [
    "attention",
    "attention_backward",
    "paged_attention",
]

OF_MATMUL = [
    "batched_matmul",
    "described_matmul",
    "grouped_matmul",
    "int4_matmul",
    "linear",
    "matmul",
    "persistent_matmul",
    "scaled_matmul",
    "split_k_matmul",
    "stream_k_matmul",
]

FAMILIES = (
    [(family, family, "//kernels/%s:%s.py" % (family, family)) for family in ALONE] +
    [(family, "attention", "//kernels/attention:sources") for family in OF_ATTENTION] +
    [(family, "matmul", "//kernels/matmul:sources") for family in OF_MATMUL]
)
