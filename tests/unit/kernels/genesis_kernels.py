"""Loop groups of the shape of Genesis' rigid-body solver: small dims outside, environments last."""

import fusewright as fw


@fw.kernel
def copies(qpos, q_out, vel, v_out, acc, a_out):
    for q, b in fw.ndrange(qpos.shape[0], qpos.shape[1]):
        q_out[q, b] = qpos[q, b]
    for d, b in fw.ndrange(vel.shape[0], qpos.shape[1]):
        v_out[d, b] = vel[d, b]
        a_out[d, b] = acc[d, b] + v_out[d, b]


@fw.kernel
def diagonal(mass, armature, damping, dt):
    for d, b in fw.ndrange(mass.shape[0], mass.shape[2]):
        mass[d, d, b] += armature[d, b]
    for d, b in fw.ndrange(mass.shape[0], mass.shape[2]):
        mass[d, d, b] += damping[d, b] * dt


@fw.kernel
def masks(mask, damping):
    for e, b in fw.ndrange(mask.shape[0], mask.shape[1]):
        mask[e, b] = False
    for e, b in fw.ndrange(mask.shape[0], mask.shape[1]):
        if damping[e, b] > 0.5:
            mask[e, b] = True


@fw.kernel
def passive(force, vel, start, stop, stiff):
    for d, b in fw.ndrange(force.shape[0], force.shape[1]):
        force[d, b] = -vel[d, b]
    for link, b in fw.ndrange(start.shape[0], force.shape[1]):
        for j in range(stop[link] - start[link]):
            force[start[link] + j, b] += stiff[link, b]


@fw.kernel
def composite(crb, inertia, parent):
    for link, b in fw.ndrange(crb.shape[0], crb.shape[1]):
        crb[link, b] = inertia[link, b]
    for b in range(crb.shape[1]):
        for k in range(crb.shape[0]):
            link = crb.shape[0] - 1 - k
            if parent[link] >= 0:
                crb[parent[link], b] += crb[link, b]


@fw.kernel
def positions(vel, vel_next, acc, qpos, qpos_next, start, dt):
    for d, b in fw.ndrange(vel.shape[0], vel.shape[1]):
        vel_next[d, b] = vel[d, b] + acc[d, b] * dt
    for link, b in fw.ndrange(start.shape[0], vel.shape[1]):
        for j in range(2):
            d = start[link] + j
            qpos_next[d, b] = qpos[d, b] + vel_next[d, b] * dt


@fw.kernel
def constraint(force, jac, qfrc, cost, aref):
    for c, b in fw.ndrange(force.shape[0], force.shape[1]):
        force[c, b] = -aref[c, b] * 0.5
    for d, b in fw.ndrange(qfrc.shape[0], force.shape[1]):
        s = 0.0
        for c in range(force.shape[0]):
            s += jac[c, d, b] * force[c, b]
        qfrc[d, b] = s
    for b in range(force.shape[1]):
        s = 0.0
        for c in range(force.shape[0]):
            s += force[c, b] * force[c, b]
        cost[b] = s


@fw.kernel
def contacts(contact, link_a, push):
    for link, b in fw.ndrange(contact.shape[0], contact.shape[1]):
        contact[link, b] = 0.0
    for b in range(contact.shape[1]):
        for c in range(link_a.shape[0]):
            contact[link_a[c], b] += push[c, b]


@fw.kernel
def counters(n_awake, awake, moving):
    for b in range(n_awake.shape[0]):
        n_awake[b] = 0
    for b in range(n_awake.shape[0]):
        for d in range(awake.shape[0]):
            if moving[d, b] > 0.5:
                awake[n_awake[b], b] = d
                n_awake[b] += 1


@fw.kernel
def indexed(pos, where, envs, x, out):
    fw.assume_unique(envs)
    for d, b in fw.ndrange(where.shape[0], envs.shape[0]):
        pos[d, envs[b]] = x[d, b]
    for b in range(envs.shape[0]):
        s = 0.0
        for d in range(where.shape[0]):
            s += pos[d, envs[b]]
        out[b] = s


@fw.kernel
def barrier(flag, moving, counter):
    for b in range(moving.shape[0]):
        if moving[b] > 0.5:
            flag[0] = 1
    for b in range(moving.shape[0]):
        if flag[0] == 0:
            counter[b] = 0
