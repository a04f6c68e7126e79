"""OpenCV: filters, drawing into an image, contours, transforms."""

import cv2
import numpy as np

image = (np.arange(60 * 80 * 3).reshape(60, 80, 3) * 7 % 255).astype(np.uint8)
gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
print(
    gray.shape,
    gray.sum(),
    cv2.GaussianBlur(image, (5, 5), 1.0).sum(),
    cv2.Canny(gray, 50, 150).sum(),
)
canvas = np.zeros((60, 80, 3), np.uint8)
same = cv2.circle(canvas, (30, 30), 10, (255, 0, 0), -1)
cv2.line(canvas, (0, 0), (79, 59), (0, 255, 0), 2)
print(canvas.sum(), same is canvas, same.sum())
mask = cv2.inRange(canvas, np.array([250, 0, 0]), np.array([255, 10, 10]))
contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
print(len(contours), cv2.contourArea(contours[0]) > 10, cv2.boundingRect(contours[0]))
target = np.zeros((60, 80), np.float32)
cv2.Sobel(gray, cv2.CV_32F, 1, 0, dst=target)
print(target.sum(), cv2.filter2D(gray, -1, np.ones((3, 3), np.float32) / 9).sum())
print(
    cv2.warpAffine(gray, np.float32([[1, 0, 5], [0, 1, 5]]), (80, 60)).sum(),
    cv2.resize(image, None, fx=0.5, fy=0.5).shape,
)
print(
    cv2.bitwise_and(image, image, mask=mask).sum(),
    cv2.add(image, image).sum(),
    cv2.merge(cv2.split(image)).sum() == image.sum(),
)
points = np.stack([np.arange(600.0), np.arange(600.0) * 2], 1).astype(np.float32)
print(
    np.round(cv2.fitLine(points, cv2.DIST_L2, 0, 0.01, 0.01).ravel(), 3), cv2.minAreaRect(points)[0]
)
print(
    cv2.calcHist([image], [0], None, [16], [0, 256]).ravel().sum(), cv2.imencode(".png", image)[0]
)
cv2.fillPoly(canvas, [np.array([[1, 1], [20, 1], [20, 20]], np.int32)], (1, 2, 3))
cv2.normalize(target, target, 0, 1, cv2.NORM_MINMAX)
print(canvas.sum(), target.max(), (gray > 100).sum())
orb = cv2.ORB_create()
print(len(orb.detect(image, None)) >= 0)
