import { type SandboxName, sandboxNames } from '../sandboxes/contract.ts'
import type { VerifyFlags } from './run-verify.ts'

/**
 * The flags of `gantry verify` where they are only the usual ones; null for every other command line. The reader of command lines takes
 * as long to load as a short verification, so it is used only for the others.
 */
export function usualVerifyFlags([command, ...words]: readonly string[]): VerifyFlags | null {
  if (command !== 'verify') return null
  let flags: VerifyFlags = { sandbox: 'auto' }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    const engine = engines.find((name) => name === words[at + 1])
    if (word === '--json') flags = { ...flags, json: true }
    else if (word === '--verbose' || word === '-v') flags = { ...flags, verbose: true }
    else if (word === '--sandbox' && engine !== undefined) {
      flags = { ...flags, sandbox: engine }
      at += 1
    } else return null
  }
  return flags
}

const engines: readonly ('auto' | SandboxName)[] = ['auto', ...sandboxNames]
