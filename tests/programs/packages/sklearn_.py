"""scikit-learn: estimators, preprocessing, metrics, splitting."""

import numpy as np
from sklearn import metrics
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import shuffle

np.random.seed(0)
points = np.random.rand(800, 4)
target = points @ np.array([1.0, -2.0, 3.0, 0.5]) + 0.01 * np.random.rand(800)
label = (target > target.mean()).astype(int)
train, test, seen, unseen = train_test_split(points, label, random_state=0)
print(train.shape, unseen.sum())
print(np.round(LinearRegression().fit(points, target).coef_, 3))
print(np.round(Lasso(alpha=0.001).fit(points, target).coef_, 3))
print(LogisticRegression().fit(train, seen).score(test, unseen).__round__(6))
print(
    metrics.accuracy_score(unseen, KNeighborsClassifier().fit(train, seen).predict(test)).__round__(
        6
    )
)
print(np.round(metrics.confusion_matrix(unseen, SVC().fit(train, seen).predict(test)), 3))
print(RandomForestClassifier(20, random_state=0).fit(train, seen).predict(test).sum())
print(np.sort(KMeans(3, random_state=0, n_init=1).fit(points).cluster_centers_[:, 0]).round(4))
print(set(DBSCAN(eps=0.3).fit_predict(points).tolist()))
print(np.abs(PCA(2).fit_transform(points)).sum().round(4))
scaler = StandardScaler(copy=False)
print(scaler.fit_transform(points).std(axis=0).round(6), points.std(axis=0).round(6))
print(
    np.round(
        cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), points, label), 4
    )
)
print(FunctionTransformer(np.log1p).fit_transform(np.abs(points)).sum().round(6))
print(shuffle(target, random_state=3)[:3].round(6))
print(
    metrics.roc_auc_score(label, target),
    metrics.mean_squared_error(target, target * 2).__round__(6),
)
print(metrics.pairwise_distances(points).sum().round(4))
