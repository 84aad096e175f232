import { defined } from '../../core/json-fields.ts'
import { rules, type SyscallRule } from '../bubblewrap/seccomp/rules.ts'

interface ProfileRule {
  readonly names: readonly string[]
  readonly action: 'SCMP_ACT_ERRNO'
  readonly errnoRet: number
  readonly args?: readonly {
    readonly index: number
    readonly op: string
    readonly value: number
    readonly valueTwo: number
  }[]
}

/** Docker's own profile refuses these too. */
const refusedByDocker =
  '_sysctl create_module get_kernel_syms get_mempolicy kcmp lookup_dcookie mbind migrate_pages move_pages nfsservctl query_module set_mempolicy sysfs uselib ustat vm86 vm86old'.split(
    ' ',
  )

const errnos = { EPERM: 1, ENOSYS: 38 }
const createFlag = 0o100

/**
 * The same seccomp filter as on bubblewrap, in the engine's format. It replaces the engine's own: that of older
 * versions allows access to the virtual machine host and to io_uring, which no filter can inspect.
 */
export function seccompProfile(): string {
  const refused: ProfileRule = { names: refusedByDocker, action: 'SCMP_ACT_ERRNO', errnoRet: errnos.EPERM }
  return JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls: [refused, ...rules.flatMap(inProfile)] })
}

function inProfile(rule: SyscallRule): readonly ProfileRule[] {
  const refuse = (errnoRet: number, args?: ProfileRule['args']): ProfileRule =>
    defined({ names: [rule.call], action: 'SCMP_ACT_ERRNO', errnoRet, args })
  switch (rule.kind) {
    case 'never':
      return [refuse(errnos[rule.with])]
    case 'not_with_bits':
      return bitsOf(rule.bits).map((bit) => refuse(errnos.EPERM, [hasBit(rule.argument, bit)]))
    case 'not_with_values':
      return rule.values.map((value) =>
        refuse(errnos.EPERM, [{ index: rule.argument, op: 'SCMP_CMP_EQ', value, valueTwo: 0 }]),
      )
    case 'not_created_with_bits':
      return bitsOf(rule.bits).map((bit) =>
        refuse(errnos.EPERM, [hasBit(rule.flags, createFlag), hasBit(rule.mode, bit)]),
      )
  }
}

function hasBit(index: number, bit: number) {
  return { index, op: 'SCMP_CMP_MASKED_EQ', value: bit, valueTwo: bit }
}

function bitsOf(bits: number): readonly number[] {
  return Array.from({ length: 32 }, (_, at) => 2 ** at).filter((bit) => (bits & bit) !== 0)
}
