import type { ProofGate } from '../contract.ts'
import { boundReached } from './bound-reached.ts'
import { contextAtStart } from './context-at-start.ts'
import { denyFile } from './deny-file.ts'
import { denyShell } from './deny-shell.ts'
import { failClosedWithoutNode, failClosedWithoutProgram } from './fail-closed.ts'
import { loopWarning } from './loop-warning.ts'
import { refuseStop } from './refuse-stop.ts'
import { relayCompaction } from './relay-compaction.ts'
import { selfProtection } from './self-protection.ts'

/** In the order of the table. */
export const proofGates: readonly ProofGate[] = [
  denyFile,
  denyShell,
  selfProtection,
  contextAtStart,
  loopWarning,
  refuseStop,
  boundReached,
  relayCompaction,
  failClosedWithoutProgram,
  failClosedWithoutNode,
]
