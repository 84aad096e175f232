import { expect, test } from 'vitest'
import { limitStates, swapShortfall } from './container-body.ts'

const wanted = { memoryBytes: 1024 ** 3, cpus: 4, pids: 256, diskBytes: 2 * 1024 ** 3 }
const given = { ...wanted, cpus: 2, kernelMemoryBytes: 1024 ** 3 }
const able = {
  NCPU: 2,
  MemoryLimit: true,
  SwapLimit: true,
  CpuCfsQuota: true,
  PidsLimit: true,
  CgroupVersion: '2',
}

/** Of the limits that the engine enforces; Gantry itself watches the disk. */
const kindsOf = ({ memoryBytes, cpus, pids }: ReturnType<typeof limitStates>) =>
  [memoryBytes, cpus, pids].map(({ kind }) => kind)

test('limits in force are applied, and processors are capped at those of the machine', () => {
  expect(limitStates(wanted, given, able)).toEqual({
    memoryBytes: { kind: 'applied', value: 1024 ** 3 },
    cpus: { kind: 'applied', value: 2 },
    pids: { kind: 'applied', value: 256 },
    diskBytes: { kind: 'applied', value: 2 * 1024 ** 3 },
  })
})

test('a limit that the engine has dropped is not applied', () => {
  const states = limitStates(wanted, { ...given, memoryBytes: 0, cpus: undefined, pids: -1 }, able)
  expect(kindsOf(states)).toEqual(['not_applied', 'not_applied', 'not_applied'])
})

test('a limit that the kernel does not enforce is not applied, whatever the engine reports', () => {
  const states = limitStates(wanted, { ...given, kernelMemoryBytes: 2 ** 60 }, able)
  expect(states.memoryBytes).toMatchObject({ kind: 'not_applied', wanted: 1024 ** 3 })
})

test('a limit that the engine does not support is not applied', () => {
  const unable = { NCPU: 2, MemoryLimit: false, SwapLimit: false, CpuCfsQuota: false, PidsLimit: false }
  const states = limitStates(wanted, given, unable)
  expect(kindsOf(states)).toEqual(['not_applied', 'not_applied', 'not_applied'])
  expect(swapShortfall(unable)).toHaveLength(1)
})

test('an engine without root on cgroup version 1 has no limits', () => {
  const rootless = { ...able, CgroupVersion: '1', SecurityOptions: ['name=seccomp', 'name=rootless'] }
  const states = limitStates(wanted, given, rootless)
  expect(kindsOf(states)).toEqual(['not_applied', 'not_applied', 'not_applied'])
})
