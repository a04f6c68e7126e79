/* The loop nests of polybench.py in C: `n` is the extent of every dim.  A loop that may run on
   threads says so. */

#include <complex.h>
#include <math.h>

#define STEPS 10
#define FOR(x, low, high) for (long x = (low); x < (high); x++)
#define DOWN(x, high, low) for (long x = (high); x >= (low); x--)
#define PARALLEL _Pragma("omp parallel for")
#define A(x, i, j) x[(i) * n + (j)]
#define B(x, i, j, k) x[((i) * n + (j)) * n + (k)]
#define IN const double *restrict
#define IO double *restrict

void gemm(long n, IO c, IN a, IN b)
{
    PARALLEL FOR(i, 0, n) {
        FOR(j, 0, n) A(c, i, j) *= 1.2;
        FOR(k, 0, n) FOR(j, 0, n) A(c, i, j) += 1.5 * A(a, i, k) * A(b, k, j);
    }
}

void two_mm(long n, IO t, IN a, IN b, IN c, IO d)
{
    PARALLEL FOR(i, 0, n) FOR(j, 0, n) {
        A(t, i, j) = 0;
        FOR(k, 0, n) A(t, i, j) += 1.5 * A(a, i, k) * A(b, k, j);
    }
    PARALLEL FOR(i, 0, n) FOR(j, 0, n) {
        A(d, i, j) *= 1.2;
        FOR(k, 0, n) A(d, i, j) += A(t, i, k) * A(c, k, j);
    }
}

void atax(long n, IN a, IN x, IO y, IO t)
{
    FOR(i, 0, n) y[i] = 0;
    FOR(i, 0, n) {
        t[i] = 0;
        FOR(j, 0, n) t[i] = t[i] + A(a, i, j) * x[j];
        FOR(j, 0, n) y[j] = y[j] + A(a, i, j) * t[i];
    }
}

void bicg(long n, IN a, IO s, IO q, IN p, IN r)
{
    FOR(i, 0, n) s[i] = 0;
    FOR(i, 0, n) {
        q[i] = 0;
        FOR(j, 0, n) {
            s[j] = s[j] + r[i] * A(a, i, j);
            q[i] = q[i] + A(a, i, j) * p[j];
        }
    }
}

void mvt(long n, IN a, IO x, IO y, IN u, IN v)
{
    PARALLEL FOR(i, 0, n) FOR(j, 0, n) x[i] = x[i] + A(a, i, j) * u[j];
    PARALLEL FOR(i, 0, n) FOR(j, 0, n) y[i] = y[i] + A(a, j, i) * v[j];
}

void gesummv(long n, IN a, IN b, IN x, IO y, IO t)
{
    PARALLEL FOR(i, 0, n) {
        t[i] = 0;
        y[i] = 0;
        FOR(j, 0, n) {
            t[i] = A(a, i, j) * x[j] + t[i];
            y[i] = A(b, i, j) * x[j] + y[i];
        }
        y[i] = 1.5 * t[i] + 1.2 * y[i];
    }
}

void trisolv(long n, IN a, IO x, IN b)
{
    FOR(i, 0, n) {
        x[i] = b[i];
        FOR(j, 0, i) x[i] -= A(a, i, j) * x[j];
        x[i] = x[i] / A(a, i, i);
    }
}

void lu(long n, IO a, IN given)
{
    FOR(i, 0, n) FOR(j, 0, n) A(a, i, j) = A(given, i, j);
    FOR(i, 0, n) {
        FOR(j, 0, i) {
            FOR(k, 0, j) A(a, i, j) -= A(a, i, k) * A(a, k, j);
            A(a, i, j) /= A(a, j, j);
        }
        FOR(j, i, n) FOR(k, 0, i) A(a, i, j) -= A(a, i, k) * A(a, k, j);
    }
}

void cholesky(long n, IO a, IN given)
{
    FOR(i, 0, n) FOR(j, 0, n) A(a, i, j) = A(given, i, j);
    FOR(i, 0, n) {
        FOR(j, 0, i) {
            FOR(k, 0, j) A(a, i, j) -= A(a, i, k) * A(a, j, k);
            A(a, i, j) /= A(a, j, j);
        }
        FOR(k, 0, i) A(a, i, i) -= A(a, i, k) * A(a, i, k);
        A(a, i, i) = sqrt(A(a, i, i));
    }
}

void jacobi_1d(long n, IO a, IO b)
{
    FOR(t, 0, STEPS) {
        PARALLEL FOR(i, 1, n - 1) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        PARALLEL FOR(i, 1, n - 1) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}

#define FIVE(x) \
    (0.2 * (A(x, i, j) + A(x, i, j - 1) + A(x, i, 1 + j) + A(x, 1 + i, j) + A(x, i - 1, j)))

void jacobi_2d(long n, IO a, IO b)
{
    FOR(t, 0, STEPS) {
        PARALLEL FOR(i, 1, n - 1) FOR(j, 1, n - 1) A(b, i, j) = FIVE(a);
        PARALLEL FOR(i, 1, n - 1) FOR(j, 1, n - 1) A(a, i, j) = FIVE(b);
    }
}

void seidel_2d(long n, IO a)
{
    FOR(t, 0, STEPS) FOR(i, 1, n - 1) FOR(j, 1, n - 1)
        A(a, i, j) = (A(a, i - 1, j - 1) + A(a, i - 1, j) + A(a, i - 1, j + 1) + A(a, i, j - 1)
                      + A(a, i, j) + A(a, i, j + 1) + A(a, i + 1, j - 1) + A(a, i + 1, j)
                      + A(a, i + 1, j + 1)) / 9.0;
}

#define SEVEN(x) \
    (0.125 * (B(x, i + 1, j, k) - 2.0 * B(x, i, j, k) + B(x, i - 1, j, k)) \
     + 0.125 * (B(x, i, j + 1, k) - 2.0 * B(x, i, j, k) + B(x, i, j - 1, k)) \
     + 0.125 * (B(x, i, j, k + 1) - 2.0 * B(x, i, j, k) + B(x, i, j, k - 1)) + B(x, i, j, k))

void heat_3d(long n, IO a, IO b)
{
    FOR(t, 0, STEPS) {
        PARALLEL FOR(i, 1, n - 1) FOR(j, 1, n - 1) FOR(k, 1, n - 1) B(b, i, j, k) = SEVEN(a);
        PARALLEL FOR(i, 1, n - 1) FOR(j, 1, n - 1) FOR(k, 1, n - 1) B(a, i, j, k) = SEVEN(b);
    }
}

void fdtd_2d(long n, IO ex, IO ey, IO hz)
{
    FOR(t, 0, STEPS) {
        FOR(j, 0, n) A(ey, 0, j) = 0.1 * t;
        PARALLEL FOR(i, 1, n) FOR(j, 0, n)
            A(ey, i, j) = A(ey, i, j) - 0.5 * (A(hz, i, j) - A(hz, i - 1, j));
        PARALLEL FOR(i, 0, n) FOR(j, 1, n)
            A(ex, i, j) = A(ex, i, j) - 0.5 * (A(hz, i, j) - A(hz, i, j - 1));
        PARALLEL FOR(i, 0, n - 1) FOR(j, 0, n - 1)
            A(hz, i, j) = A(hz, i, j) - 0.7 * (A(ex, i, j + 1) - A(ex, i, j) + A(ey, i + 1, j)
                                               - A(ey, i, j));
    }
}

void floyd_warshall(long n, IO path)
{
    FOR(k, 0, n) FOR(i, 0, n) FOR(j, 0, n) {
        double through = A(path, i, k) + A(path, k, j);
        if (through < A(path, i, j)) A(path, i, j) = through;
    }
}

#define BEST(x) A(table, i, j) = A(table, i, j) > (x) ? A(table, i, j) : (x)

void nussinov(long n, long *restrict table, const long *restrict seq)
{
    DOWN(i, n - 1, 0) FOR(j, i + 1, n) {
        BEST(A(table, i, j - 1));
        if (i + 1 < n) {
            BEST(A(table, i + 1, j));
            long pair = A(table, i + 1, j - 1);
            if (i < j - 1 && seq[i] + seq[j] == 3) pair++;
            BEST(pair);
        }
        FOR(k, i + 1, j) BEST(A(table, i, k) + A(table, k + 1, j));
    }
}

void correlation(long n, IN data, IO corr, IO mean, IO spread)
{
    PARALLEL FOR(j, 0, n) {
        mean[j] = 0;
        FOR(i, 0, n) mean[j] += A(data, i, j);
        mean[j] /= n;
    }
    PARALLEL FOR(j, 0, n) {
        spread[j] = 0;
        FOR(i, 0, n) spread[j] += (A(data, i, j) - mean[j]) * (A(data, i, j) - mean[j]);
        spread[j] = sqrt(spread[j] / n);
    }
    PARALLEL FOR(i, 0, n - 1) {
        A(corr, i, i) = 1;
        FOR(j, i + 1, n) {
            A(corr, i, j) = 0;
            FOR(k, 0, n) A(corr, i, j) += (A(data, k, i) - mean[i]) * (A(data, k, j) - mean[j]);
            A(corr, i, j) /= n * spread[i] * spread[j];
            A(corr, j, i) = A(corr, i, j);
        }
    }
    A(corr, n - 1, n - 1) = 1;
}

void covariance(long n, IN data, IO cov, IO mean)
{
    PARALLEL FOR(j, 0, n) {
        mean[j] = 0;
        FOR(i, 0, n) mean[j] += A(data, i, j);
        mean[j] /= n;
    }
    PARALLEL FOR(i, 0, n) FOR(j, i, n) {
        A(cov, i, j) = 0;
        FOR(k, 0, n) A(cov, i, j) += (A(data, k, i) - mean[i]) * (A(data, k, j) - mean[j]);
        A(cov, i, j) /= n - 1.0;
        A(cov, j, i) = A(cov, i, j);
    }
}

void doitgen(long n, IN a, IN c4, IO out)
{
    PARALLEL FOR(r, 0, n) FOR(q, 0, n) FOR(p, 0, n) {
        B(out, r, q, p) = 0;
        FOR(s, 0, n) B(out, r, q, p) += B(a, r, q, s) * A(c4, s, p);
    }
}

void deriche(long n, IN image, IO out, IO y1, IO y2)
{
    PARALLEL FOR(i, 0, n) {
        double ym1 = 0, ym2 = 0, xm1 = 0;
        FOR(j, 0, n) {
            A(y1, i, j) = 0.2 * A(image, i, j) - 0.1 * xm1 + 0.9 * ym1 - 0.3 * ym2;
            xm1 = A(image, i, j);
            ym2 = ym1;
            ym1 = A(y1, i, j);
        }
    }
    PARALLEL FOR(i, 0, n) {
        double yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
        DOWN(j, n - 1, 0) {
            A(y2, i, j) = 0.15 * xp1 - 0.05 * xp2 + 0.9 * yp1 - 0.3 * yp2;
            xp2 = xp1;
            xp1 = A(image, i, j);
            yp2 = yp1;
            yp1 = A(y2, i, j);
        }
    }
    PARALLEL FOR(i, 0, n) FOR(j, 0, n) A(out, i, j) = A(y1, i, j) + A(y2, i, j);
    PARALLEL FOR(j, 0, n) {
        double tm1 = 0, ym1 = 0, ym2 = 0;
        FOR(i, 0, n) {
            A(y1, i, j) = 0.2 * A(out, i, j) - 0.1 * tm1 + 0.9 * ym1 - 0.3 * ym2;
            tm1 = A(out, i, j);
            ym2 = ym1;
            ym1 = A(y1, i, j);
        }
    }
}

void adi(long n, IO u, IO v, IO p, IO q)
{
    FOR(t, 0, STEPS) {
        PARALLEL FOR(i, 1, n - 1) {
            A(v, 0, i) = 1;
            A(p, i, 0) = 0;
            A(q, i, 0) = 1;
            FOR(j, 1, n - 1) {
                A(p, i, j) = 0.3 / (-0.3 * A(p, i, j - 1) + 1.6);
                A(q, i, j) = (0.2 * A(u, j, i - 1) + 0.6 * A(u, j, i) + 0.2 * A(u, j, i + 1)
                              + 0.3 * A(q, i, j - 1)) / (-0.3 * A(p, i, j - 1) + 1.6);
            }
            A(v, n - 1, i) = 1;
            DOWN(j, n - 2, 1) A(v, j, i) = A(p, i, j) * A(v, j + 1, i) + A(q, i, j);
        }
        PARALLEL FOR(i, 1, n - 1) {
            A(u, i, 0) = 1;
            FOR(j, 1, n - 1)
                A(u, i, j) = 0.2 * A(v, i - 1, j) + 0.6 * A(v, i, j) + 0.2 * A(v, i + 1, j);
        }
    }
}

#define CIN const double complex *restrict
#define CIO double complex *restrict
#define LIMIT 50

void complex_axpy(long n, CIN a, CIN x, CIO y)
{
    PARALLEL FOR(i, 0, n) y[i] = a[0] * x[i] + y[i];
}

void complex_multiply(long n, CIN x, CIN y, CIO z)
{
    PARALLEL FOR(i, 0, n) z[i] = x[i] * y[i];
}

void mandelbrot(long n, CIN c, CIO z, long *restrict steps)
{
    PARALLEL FOR(i, 0, n) {
        double complex here = 0;
        long count = 0;
        while (count < LIMIT && creal(here) * creal(here) + cimag(here) * cimag(here) < 4.0) {
            here = here * here + c[i];
            count++;
        }
        z[i] = here;
        steps[i] = count;
    }
}

void dft(long n, CIN x, CIN roots, CIO y)
{
    PARALLEL FOR(k, 0, n) {
        double complex total = 0;
        FOR(j, 0, n) total += x[j] * roots[(j * k) % n];
        y[k] = total;
    }
}
