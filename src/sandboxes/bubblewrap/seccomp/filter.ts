import { rules, type SyscallRule } from './rules.ts'
import { auditArch, type SeccompArch, syscallNumbers } from './syscalls.ts'

/**
 * The seccomp filter of every step: refuses calls that could change mounts, namespaces, keys, the kernel or a terminal,
 * and calls that set the setuid or setgid bit of a file. null for an unsupported processor.
 *
 * Everything else is allowed: capabilities and namespaces restrict it, and tests of debuggers and sanitizers need it.
 */
export function seccompFilter(arch: string): Uint8Array | null {
  if (!hasSeccompFilter(arch)) return null
  const numbers = syscallNumbers[arch]
  const program: Instruction[] = [
    load(offsetOfArch),
    jumpIfEqual(auditArch[arch], 1, 0),
    answer(errno.ENOSYS),
    load(offsetOfNumber),
    // The x32 calls of x86-64 have this bit; on other processors no number is so large.
    { code: 0x35, ifTrue: 0, ifFalse: 1, value: 0x4000_0000 },
    answer(errno.ENOSYS),
  ]
  for (const rule of rules) {
    const number = numbers[rule.call]
    if (number === undefined) continue
    const body = blockOf(rule)
    program.push(jumpIfEqual(number, 0, body.length), ...body)
  }
  program.push(allow)
  return assemble(program)
}

interface Instruction {
  readonly code: number
  readonly ifTrue: number
  readonly ifFalse: number
  readonly value: number
}

const errno = { EPERM: 1, ENOSYS: 38 } as const
const offsetOfNumber = 0
const offsetOfArch = 4
const argumentOffset = (index: number): number => 16 + 8 * index

/** The instructions after the number has matched; every path ends in a result. */
function blockOf(rule: SyscallRule): readonly Instruction[] {
  switch (rule.kind) {
    case 'never':
      return [answer(errno[rule.with])]
    case 'not_with_bits':
      return [load(argumentOffset(rule.argument)), jumpIfBits(rule.bits, 0, 1), answer(errno.EPERM), allow]
    case 'not_with_values':
      return [
        load(argumentOffset(rule.argument)),
        ...rule.values.flatMap((value) => [jumpIfEqual(value, 0, 1), answer(errno.EPERM)]),
        allow,
      ]
    case 'not_created_with_bits':
      return [
        load(argumentOffset(rule.flags)),
        jumpIfBits(createFlags, 1, 0),
        allow,
        load(argumentOffset(rule.mode)),
        jumpIfBits(rule.bits, 0, 1),
        answer(errno.EPERM),
        allow,
      ]
  }
}

/** O_CREAT and O_TMPFILE: without them the mode is an arbitrary register value. */
const createFlags = 0o100 | 0o20000000

function load(offset: number): Instruction {
  return { code: 0x20, ifTrue: 0, ifFalse: 0, value: offset }
}

function jumpIfEqual(value: number, ifTrue: number, ifFalse: number): Instruction {
  return { code: 0x15, ifTrue, ifFalse, value }
}

function jumpIfBits(value: number, ifTrue: number, ifFalse: number): Instruction {
  return { code: 0x45, ifTrue, ifFalse, value }
}

function answer(error: number): Instruction {
  return { code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x0005_0000 | error }
}

const allow: Instruction = { code: 0x06, ifTrue: 0, ifFalse: 0, value: 0x7fff_0000 }

/** `struct sock_filter` records. Both processors are little-endian. */
function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  for (const [index, { code, ifTrue, ifFalse, value }] of program.entries()) {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, ifTrue)
    bytes.setUint8(index * 8 + 3, ifFalse)
    bytes.setUint32(index * 8 + 4, value, true)
  }
  return new Uint8Array(bytes.buffer)
}

export function hasSeccompFilter(arch: string): arch is SeccompArch {
  return Object.hasOwn(syscallNumbers, arch)
}
