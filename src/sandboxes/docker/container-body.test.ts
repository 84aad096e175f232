import { expect, test } from 'vitest'
import { limitStates, swapShortfall } from './container-body.ts'

const wanted = { memoryBytes: 1024 ** 3, cpus: 4, pids: 256 }
const given = { ...wanted, cpus: 2, kernelMemoryBytes: 1024 ** 3 }
const able = {
  NCPU: 2,
  MemoryLimit: true,
  SwapLimit: true,
  CpuCfsQuota: true,
  PidsLimit: true,
  CgroupVersion: '2',
}

test('limits that are found in force are applied; of processors there are never more than the machine has', () => {
  expect(limitStates(wanted, given, able)).toEqual({
    memoryBytes: { kind: 'applied', value: 1024 ** 3 },
    cpus: { kind: 'applied', value: 2 },
    pids: { kind: 'applied', value: 256 },
  })
})

test('what the engine has dropped is not applied', () => {
  const states = limitStates(wanted, { ...given, memoryBytes: 0, cpus: undefined, pids: -1 }, able)
  expect(Object.values(states).map(({ kind }) => kind)).toEqual(['not_applied', 'not_applied', 'not_applied'])
})

test('what the kernel does not have in force is not applied, whatever the engine says', () => {
  const states = limitStates(wanted, { ...given, kernelMemoryBytes: 2 ** 60 }, able)
  expect(states.memoryBytes).toMatchObject({ kind: 'not_applied', wanted: 1024 ** 3 })
})

test('what the engine says it cannot do is not applied', () => {
  const unable = { NCPU: 2, MemoryLimit: false, SwapLimit: false, CpuCfsQuota: false, PidsLimit: false }
  const states = limitStates(wanted, given, unable)
  expect(Object.values(states).map(({ kind }) => kind)).toEqual(['not_applied', 'not_applied', 'not_applied'])
  expect(swapShortfall(unable)).toHaveLength(1)
})

test('an engine without root on cgroup version 1 has no limits', () => {
  const rootless = { ...able, CgroupVersion: '1', SecurityOptions: ['name=seccomp', 'name=rootless'] }
  const states = limitStates(wanted, given, rootless)
  expect(Object.values(states).map(({ kind }) => kind)).toEqual(['not_applied', 'not_applied', 'not_applied'])
})
