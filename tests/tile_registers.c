/* Tile registers (AMX) for machines that have none: whoever meets one of the seven instructions that
   the package's code consists of gets SIGILL, and the handler does what Intel's manual says.

   Each thread has its own eight tiles.  What the manual forbids (a tile that was not configured)
   is the illegal instruction it is. */

#define _GNU_SOURCE
#include <immintrin.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

typedef struct {
    uint8_t configured, rows[8];
    uint16_t bytes[8];
    uint8_t data[8][16][64];
} Tiles;

static __thread Tiles tiles;
static struct sigaction before;
static _Atomic long executed;

static const int REGISTERS[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static float widened(const uint8_t *place)
{
    uint16_t half;
    memcpy(&half, place, 2);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* TDPBF16PS: an even and an odd chain of each element, whose sum is added. */
static void multiply(int to, int a, int b)
{
    for (int m = 0; m < tiles.rows[to]; m++)
        for (int n = 0; n < tiles.bytes[to] / 4; n++) {
            volatile float even = 0, odd = 0, both, sum;
            for (int k = 0; k < tiles.bytes[a] / 4; k++) {
                const uint8_t *x = &tiles.data[a][m][4 * k], *y = &tiles.data[b][k][4 * n];
                even = fmaf(widened(x), widened(y), even);
                odd = fmaf(widened(x + 2), widened(y + 2), odd);
            }
            both = even + odd;
            memcpy((void *)&sum, &tiles.data[to][m][4 * n], 4);
            sum = sum + both;
            memcpy(&tiles.data[to][m][4 * n], (void *)&sum, 4);
        }
}

static int configure(const uint8_t *from)
{
    if (from[0] != 1)
        return 0;
    memset(&tiles, 0, sizeof tiles);
    tiles.configured = 1;
    for (int tile = 0; tile < 8; tile++) {
        memcpy(&tiles.bytes[tile], from + 16 + 2 * tile, 2);
        tiles.rows[tile] = from[48 + tile];
        if (tiles.rows[tile] > 16 || tiles.bytes[tile] > 64)
            return 0;
    }
    return 1;
}

/* The operand in memory; `length` gets the bytes of ModRM, SIB and displacement, `stride` the index. */
static uint8_t *address(const uint8_t *modrm, int x, int b, greg_t *r, int *length, int64_t *stride)
{
    int mod = modrm[0] >> 6, rm = modrm[0] & 7, used = 1, relative = 0;
    int64_t base = 0, displacement = 0;
    *stride = 0;
    if (rm == 4) {
        int sib = modrm[used++], index = (sib >> 3 & 7) | x << 3, low = sib & 7;
        if (index != 4)
            *stride = (int64_t)((uint64_t)r[REGISTERS[index]] << (sib >> 6));
        if (mod == 0 && low == 5)
            mod = 4;
        else
            base = r[REGISTERS[low | b << 3]];
    } else if (mod == 0 && rm == 5) {
        relative = 1;
        mod = 4;
    } else
        base = r[REGISTERS[rm | b << 3]];
    if (mod == 1)
        displacement = (int8_t)modrm[used++];
    if (mod == 2 || mod == 4) {
        int32_t wide;
        memcpy(&wide, modrm + used, 4);
        displacement = wide;
        used += 4;
    }
    *length = used;
    if (relative)
        base = (int64_t)(modrm + used);
    return (uint8_t *)(base + displacement);
}

static int emulated(const uint8_t *code, greg_t *r, int *size)
{
    if (code[0] != 0xC4 || (code[1] & 31) != 2 || (code[2] & 0x84))
        return 0;
    int x = !(code[1] & 0x40), b = !(code[1] & 0x20), prefix = code[2] & 3, op = code[3];
    int memory = code[4] >> 6 != 3, reg = code[4] >> 3 & 7, length = 1;
    int64_t stride = 0;
    uint8_t *place = memory ? address(code + 4, x, b, r, &length, &stride) : 0;
    *size = 4 + length;
    if (op == 0x49 && prefix == 0 && memory)
        return configure(place);
    if (op == 0x49 && prefix == 0 && code[4] == 0xC0) {
        memset(&tiles, 0, sizeof tiles);
        return 1;
    }
    if (!tiles.configured || !tiles.rows[reg])
        return 0;
    if (op == 0x49 && prefix == 3 && !memory)
        memset(tiles.data[reg], 0, sizeof tiles.data[reg]);
    else if (op == 0x4B && prefix == 3 && memory) {
        memset(tiles.data[reg], 0, sizeof tiles.data[reg]);
        for (int row = 0; row < tiles.rows[reg]; row++)
            memcpy(tiles.data[reg][row], place + row * stride, tiles.bytes[reg]);
    } else if (op == 0x4B && prefix == 2 && memory)
        for (int row = 0; row < tiles.rows[reg]; row++)
            memcpy(place + row * stride, tiles.data[reg][row], tiles.bytes[reg]);
    else if (op == 0x5C && prefix == 2 && !memory)
        multiply(reg, code[4] & 7, ~code[2] >> 3 & 7);
    else
        return 0;
    return 1;
}

static void handler(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    int size;
    _mm_setcsr(0x9FC0); /* denormal numbers are zeros; the signal's end puts back what was */
    if (emulated((const uint8_t *)registers[REG_RIP], registers, &size)) {
        registers[REG_RIP] += size;
        executed++;
    } else
        sigaction(number, &before, 0); /* which the instruction meets again */
}

void start(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &before);
}

void stop(void) { sigaction(SIGILL, &before, 0); }

/* Instructions so far, and whether this thread has tiles in use. */
long count(void) { return executed; }
int in_use(void) { return tiles.configured; }

/* `pthread_sigmask` for threads that are to be emulated in. */
int mask_of_workers(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t open;
    if (!set)
        return pthread_sigmask(how, set, old);
    open = *set;
    sigdelset(&open, SIGILL);
    return pthread_sigmask(how, &open, old);
}
