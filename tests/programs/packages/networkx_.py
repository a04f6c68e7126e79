"""networkx: graphs of arrays."""

import networkx as nx
import numpy as np

links = (np.arange(900).reshape(30, 30) % 7 == 0).astype(float)
graph = nx.from_numpy_array(links)
print(graph.number_of_edges(), nx.number_connected_components(graph))
print(
    nx.to_numpy_array(graph).sum(),
    nx.adjacency_matrix(graph).sum(),
    np.round(nx.laplacian_spectrum(graph).sum(), 6),
)
pairs = np.stack([np.arange(600), np.arange(600) + 1], 1)
path = nx.Graph()
path.add_edges_from(pairs.tolist())
path.add_weighted_edges_from([(a, b, 1.0 * a) for a, b in pairs])
print(
    path.number_of_edges(),
    nx.shortest_path_length(path, 0, 100),
    round(sum(nx.pagerank(graph).values()), 6),
)
