import { type SandboxName, sandboxNames } from '../sandboxes/contract.ts'
import type { VerifyFlags } from './run-verify.ts'

/**
 * The flags of `gantry verify …` when they are plainly right; null for every other command line, which is the whole program's to
 * understand. To describe all commands takes as long as to run a small verification.
 */
export function plainVerifyFlags([command, ...args]: readonly string[]): VerifyFlags | null {
  if (command !== 'verify') return null
  const flags: { -readonly [Key in keyof VerifyFlags]: VerifyFlags[Key] } = { sandbox: 'auto' }
  const rest = args.values()
  for (const arg of rest) {
    if (arg === '--json') flags.json = true
    else if (arg === '--verbose' || arg === '-v') flags.verbose = true
    else {
      const value: string | undefined = rest.next().value
      if (value === undefined || value === '' || value.startsWith('-')) return null
      if (arg === '--root') flags.root = value
      else if (arg === '--config') flags.config = value
      else if (arg === '--sandbox' && isSandbox(value)) flags.sandbox = value
      else return null
    }
  }
  return flags
}

function isSandbox(value: string): value is 'auto' | SandboxName {
  return value === 'auto' || sandboxNames.some((name) => name === value)
}
