import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { cgroupPlaces } from './cgroup.ts'

const delegated = { 'cgroup.procs': '', 'cgroup.subtree_control': 'cpu memory pids\n' }

describe('where a cgroup can be created', () => {
  test('version 1: below our own, controller by controller, also when two share a hierarchy', async () => {
    await using fixture = await createFixture({
      'memory/ours/x': '',
      'cpu,cpuacct/x': '',
      'pids/x': '',
    })
    const own = '5:pids:/\n4:memory:/ours\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n'
    expect(cgroupPlaces(own, fixture.path)).toEqual({
      memory: { kind: 'at', version: 'v1', parent: fixture.getPath('memory/ours') },
      cpu: { kind: 'at', version: 'v1', parent: fixture.getPath('cpu,cpuacct') },
      pids: { kind: 'at', version: 'v1', parent: fixture.getPath('pids') },
    })
  })

  test('version 1: the root of the hierarchy when our own path is one of the host', async () => {
    await using fixture = await createFixture({ 'memory/x': '' })
    const { memory, cpu } = cgroupPlaces('4:memory:/docker/abc\n3:cpu:/\n', fixture.path)
    expect(memory).toEqual({ kind: 'at', version: 'v1', parent: fixture.getPath('memory') })
    expect(cpu).toMatchObject({ kind: 'none', why: expect.stringContaining('not mounted') })
  })

  test('version 2: not below our own, which has processes, but the nearest above that hands the controller down', async () => {
    await using fixture = await createFixture({
      'cgroup.controllers': 'cpu memory pids\n',
      ...delegated,
      'user.slice/app.slice': { ...delegated, 'cgroup.subtree_control': 'memory pids\n' },
      'user.slice/app.slice/ours': { 'cgroup.procs': '', 'cgroup.subtree_control': '' },
      'user.slice/cgroup.subtree_control': 'memory\n',
    })
    const places = cgroupPlaces('0::/user.slice/app.slice/ours\n', fixture.path.replace(/\/$/, ''))
    const near = { kind: 'at', version: 'v2', parent: fixture.getPath('user.slice/app.slice') }
    expect(places.memory).toEqual(near)
    expect(places.pids).toEqual(near)
    expect(places.cpu).toMatchObject({ kind: 'at', parent: fixture.path.replace(/\/$/, '') })
  })

  test('version 2 without delegation, and no cgroups at all, say why', async () => {
    await using fixture = await createFixture({
      'cgroup.controllers': '',
      'cgroup.subtree_control': '',
      'cgroup.procs': '',
    })
    expect(cgroupPlaces('0::/\n', fixture.path.replace(/\/$/, '')).memory).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('delegated'),
    })
    expect(cgroupPlaces('', fixture.path).pids).toEqual({ kind: 'none', why: 'this system has no cgroups' })
  })
})
