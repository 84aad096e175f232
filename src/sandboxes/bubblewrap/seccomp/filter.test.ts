import { describe, expect, test } from 'vitest'
import { seccompFilter } from './filter.ts'
import { auditArch, type SeccompArch, type SyscallName, syscallNumbers } from './syscalls.ts'

const allowed = 0x7fff_0000
const EPERM = 0x0005_0001
const ENOSYS = 0x0005_0026

describe.for<SeccompArch>(['x64', 'arm64'])('the seccomp filter for %s', (arch) => {
  const program = seccompFilter(arch) ?? new Uint8Array()
  const numbers = syscallNumbers[arch]
  const call = (name: SyscallName, ...args: number[]): number | null => {
    const number = numbers[name]
    return number === undefined ? null : answerOf(program, { number, arch: auditArch[arch], args })
  }

  test('allows normal work: reading, writing, opening, forking, sockets', () => {
    for (const number of [0, 1, 3, 5, 9, 57, 59, 61, 63, 64, 93, 231])
      if (!Object.values(numbers).includes(number))
        expect(answerOf(program, { number, arch: auditArch[arch], args: [] })).toBe(allowed)
    expect(call('openat', 0, 0, 0o100, 0o644)).toBe(allowed)
    expect(call('clone', 0x0120_0011)).toBe(allowed)
    expect(call('socket', 1, 1, 0)).toBe(allowed)
    expect(call('socket', 2, 1, 0)).toBe(allowed)
    expect(call('ioctl', 0, 0x5413)).toBe(allowed)
    expect(call('fchmodat', 0, 0, 0o1777)).toBe(allowed)
  })

  test('refuses mounts, namespaces, keys, modules and terminals', () => {
    for (const name of [
      'mount',
      'umount2',
      'unshare',
      'setns',
      'keyctl',
      'bpf',
      'init_module',
      'kexec_load',
    ] as const)
      expect(call(name)).toBe(EPERM)
    for (const name of ['clone3', 'openat2', 'io_uring_setup', 'open_tree', 'mount_setattr'] as const)
      expect(call(name)).toBe(ENOSYS)
    for (const bit of [
      0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
    ])
      expect(call('clone', bit | 17)).toBe(EPERM)
    expect(call('socket', 40, 1, 0)).toBe(EPERM)
    expect(call('socket', 38, 5, 0)).toBe(EPERM)
    expect(call('ioctl', 0, 0x5412)).toBe(EPERM)
    expect(call('ioctl', 0, 0x541c)).toBe(EPERM)
  })

  test('refuses every way to create a setuid or setgid file, and ignores the mode where it has no effect', () => {
    for (const mode of [0o4755, 0o2755, 0o6000]) {
      expect(call('fchmod', 3, mode)).toBe(EPERM)
      expect(call('fchmodat', 0, 0, mode)).toBe(EPERM)
      expect(call('fchmodat2', 0, 0, mode)).toBe(EPERM)
      expect(call('mknodat', 0, 0, mode)).toBe(EPERM)
      expect(call('openat', 0, 0, 0o101, mode)).toBe(EPERM)
      expect(call('openat', 0, 0, 0o20200000, mode)).toBe(EPERM)
      expect(call('openat', 0, 0, 0o1, mode)).toBe(allowed)
      expect([null, EPERM]).toContain(call('chmod', 0, mode))
      expect([null, EPERM]).toContain(call('open', 0, 0o101, mode))
      expect([null, EPERM]).toContain(call('creat', 0, mode))
    }
  })

  test("refuses calls in another processor's convention", () => {
    expect(answerOf(program, { number: 0, arch: 0x4000_0003, args: [] })).toBe(ENOSYS)
    expect(answerOf(program, { number: 0x4000_0000, arch: auditArch[arch], args: [] })).toBe(ENOSYS)
  })
})

test('there is no filter for an unsupported processor', () => {
  expect(seccompFilter('riscv64')).toBeNull()
})

interface Call {
  readonly number: number
  readonly arch: number
  readonly args: readonly number[]
}

/** Runs the instructions as the kernel would. */
function answerOf(program: Uint8Array, { number, arch, args }: Call): number {
  const view = new DataView(program.buffer)
  const data = new Map([[0, number], [4, arch], ...args.map((arg, index) => [16 + 8 * index, arg] as const)])
  let loaded = 0
  for (let at = 0; at < program.length / 8; at++) {
    const [code, value] = [view.getUint16(at * 8, true), view.getUint32(at * 8 + 4, true)]
    const jump = (isTrue: boolean): void => {
      at += view.getUint8(at * 8 + (isTrue ? 2 : 3))
    }
    if (code === 0x20) loaded = (data.get(value) ?? 0) >>> 0
    else if (code === 0x15) jump(loaded === value)
    else if (code === 0x35) jump(loaded >= value)
    else if (code === 0x45) jump((loaded & value) !== 0)
    else if (code === 0x06) return value
    else throw new Error(`unknown instruction ${code}`)
  }
  throw new Error('the program has no end')
}
