import type { AgentOutcome } from '../../agents/contract.ts'
import type { HookCapabilities } from '../../agents/hook-codec.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { ProofTraits } from '../../agents/hook-installer.ts'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { LedgerEntry } from '../../guard-engine/contract.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import type { Boundary, ModelCall } from '../../models/boundary/contract.ts'

/** A real agent with a scripted model, ready to run in scratch projects that have the guard installed. */
export interface ProofStage {
  readonly agent: HookedAgent
  readonly version: string | null
  readonly capabilities: HookCapabilities
  readonly traits: ProofTraits
  /** The program that the hooks start. */
  readonly program: HookProgram
  /** An absolute path where no file exists. */
  readonly nowhere: string
  /** Creates a project with its own HOME and ledger, and the hooks as `guard install` writes them. */
  project(setup?: ProjectSetup): Promise<GuardedProject>
}

export interface StageOptions {
  readonly agent: HookedAgent
  /** Its keys in gantry.yaml, such as `binary`. The stage sets its HOME and its model. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Base of relative paths in them. */
  readonly base: string
  readonly program: HookProgram
  readonly boundary: Boundary
  /** Absolute. Every project is a directory in it. */
  readonly scratch: string
  /** Environment of the caller. The agent gets only PATH, language and time zone from it. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export interface ProjectSetup {
  /** By path relative to the project. */
  readonly files?: Readonly<Record<string, string>>
  /** Content of harness.json. */
  readonly settings?: object
  /** The files are committed in a git repository before the hooks are installed. */
  readonly git?: true
  /** Commands run with protected files read-only, as with `guard install --enforce kernel`. */
  readonly enforceKernel?: true
  /** Program the hooks start instead of the guard. */
  readonly program?: HookProgram
  /** The project gets no hooks from us, because they come from elsewhere, such as a plugin. */
  readonly bare?: true
}

export interface GuardedProject {
  /** Real path. */
  readonly root: string
  readonly home: string
  /** Environment of the agent and of its hooks. */
  readonly env: Readonly<Record<string, string>>
  play(script: object, options?: PlayOptions): Promise<AgentRun>
  /** All ledger entries so far, session after session. */
  ledger(): readonly LedgerEntry[]
  /** null when the file does not exist. */
  read(path: string): string | null
}

export interface PlayOptions {
  readonly prompt?: string
  /** Keys of the agent in gantry.yaml for this play only, such as `resume`. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

/** One run of the agent: the events its driver saw and the requests its model got. */
export interface AgentRun {
  readonly outcome: AgentOutcome
  readonly events: readonly Untimed<AgentEvent>[]
  readonly calls: readonly ModelCall[]
  /** The raw output of the agent. */
  readonly transcript: string
  readonly session: string | null
}

/** One promise of the guard, and how to make the agent demonstrate it. */
export interface ProofGate {
  readonly name: string
  /** A few words for the table. */
  readonly expected: string
  /** The capability that the agent needs for it. */
  readonly capability: keyof HookCapabilities
  /** Why it cannot be shown, besides the capability; null when it can. */
  limit?(stage: ProofStage): Promise<string | null>
  play(stage: ProofStage): Promise<Sighting>
}

export interface Sighting {
  readonly fired: boolean
  /** What happened, in a few words. */
  readonly seen: string
}
