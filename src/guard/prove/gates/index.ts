import type { ProofGate } from '../contract.ts'
import { contextAtStart, loopWarning, relayCompaction } from './context.ts'
import {
  denyFile,
  denyShell,
  failClosedWithoutNode,
  failClosedWithoutProgram,
  selfProtection,
} from './denials.ts'
import { gitDisarming, subagentDenied } from './disarming.ts'
import { kernelProtection } from './kernel.ts'
import { boundReached, refuseStop } from './stops.ts'

export const proofGates: readonly ProofGate[] = [
  denyFile,
  denyShell,
  subagentDenied,
  selfProtection,
  gitDisarming,
  kernelProtection,
  contextAtStart,
  loopWarning,
  refuseStop,
  boundReached,
  relayCompaction,
  failClosedWithoutProgram,
  failClosedWithoutNode,
]
