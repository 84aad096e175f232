import type { AgentOutcome } from '../../agents/contract.ts'
import type { HookCapabilities } from '../../agents/hook-codec.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { ProofTraits } from '../../agents/hook-installer.ts'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { LedgerEntry } from '../../guard-engine/contract.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import type { Boundary, ModelCall } from '../../models/boundary/contract.ts'

/** A real agent whose model is a script, ready to be played in scratch projects that have the guard in them. */
export interface ProofStage {
  readonly agent: HookedAgent
  readonly version: string | null
  readonly capabilities: HookCapabilities
  readonly traits: ProofTraits
  /** What the hooks start. */
  readonly program: HookProgram
  /** Absolute; nothing is there. */
  readonly nowhere: string
  /** A project with a HOME and a ledger of its own, and the hooks as `guard install` writes them. */
  project(setup?: ProjectSetup): Promise<GuardedProject>
}

/** What a stage is made of. */
export interface StageOptions {
  readonly agent: HookedAgent
  /** Its keys in gantry.yaml, such as `binary`. Where it lives and what answers it is the stage's to say. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Where relative paths of them start. */
  readonly base: string
  readonly program: HookProgram
  readonly boundary: Boundary
  /** Absolute; every project is a directory in it. */
  readonly scratch: string
  /** The caller's: of it the agent sees PATH, language and time zone. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export interface ProjectSetup {
  /** By path below the project. */
  readonly files?: Readonly<Record<string, string>>
  /** harness.json. */
  readonly settings?: object
  /** What the hooks start, when it is not to be the guard. */
  readonly program?: HookProgram
  /** The project has no hooks of ours: they come from elsewhere, such as a plugin. */
  readonly bare?: true
}

export interface GuardedProject {
  /** Real path. */
  readonly root: string
  readonly home: string
  /** Of the agent, and with it of its hooks. */
  readonly env: Readonly<Record<string, string>>
  play(script: object, options?: PlayOptions): Promise<Performance>
  /** Everything its ledgers have so far, session after session. */
  ledger(): readonly LedgerEntry[]
  /** null when there is no such file. */
  read(path: string): string | null
}

export interface PlayOptions {
  readonly prompt?: string
  /** Keys of the agent in gantry.yaml that hold for this play only, such as `resume`. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

/** One run of the agent, from both sides: what its driver saw, and what its model was asked. */
export interface Performance {
  readonly outcome: AgentOutcome
  readonly events: readonly Untimed<AgentEvent>[]
  readonly calls: readonly ModelCall[]
  /** The agent's output as it came. */
  readonly transcript: string
  readonly session: string | null
}

/** One thing the guard promises, and how the agent is made to show that it holds. */
export interface ProofGate {
  readonly name: string
  /** In a few words, for the table. */
  readonly expected: string
  /** On it depends whether this agent can do it at all. */
  readonly capability: keyof HookCapabilities
  play(stage: ProofStage): Promise<Sighting>
}

export interface Sighting {
  readonly fired: boolean
  /** What really happened, in a few words. */
  readonly seen: string
}
