import type { AgentRequest, AgentSession, SessionRequest } from '../contract.ts'
import type { StreamParser } from '../stream.ts'

/**
 * The specifics of one command-line agent with structured output. Everything else (starting it, reading its lines,
 * limits, stopping it with its child processes) is the same for all and in this folder.
 */
export interface CliAgent<Config extends CliConfig> {
  /** The driver's name in gantry.yaml. */
  readonly driver: string
  /** The program's name on PATH. */
  readonly program: string
  /** The command that installs it. */
  readonly install: string
  /** `from` is the oldest tested version, `below` the first unsupported one. */
  readonly supported: { readonly from: string; readonly below: string }
  readonly credentials: readonly string[]
  readonly reportsCost: boolean
  /** It exits before a long output to a pipe is written. */
  readonly losesOutput?: true
  /** Pure. The command to start, and the files it needs. */
  launch(config: Config, request: AgentRequest, place: CliPlace): CliLaunch
  createParser(): StreamParser
  /** Set when it can stay alive for many prompts. */
  readonly live?: LiveMode<Config>
  /** Files and directories that the settings name and that affect the behaviour; the base of relative ones is the configuration. */
  inputs?(config: Config): readonly string[]
  /** Whether the environment gives it access to a model. Default: by any of its credentials that is not an address. */
  hasKey?(env: Readonly<Record<string, string>>): boolean
  /** It has models that need no key. */
  readonly worksWithoutKey?: boolean
}

/** How to start such an agent for consecutive prompts, and its session. */
export interface LiveMode<Config extends CliConfig> {
  /** Pure, as `launch` of the agent; it has no stdin. */
  launch(config: Config, request: SessionRequest, place: CliPlace): CliLaunch
  /** Starts it and emits `spawn`; a failed start is the outcome of the first prompt. */
  open(start: CliStart, request: SessionRequest): Promise<AgentSession>
}

/** An existing program, ready to start. */
export interface CliStart {
  /** The name the user gave the agent. */
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** Keys that every such agent has in gantry.yaml. */
export interface CliConfig {
  /** Program or path; default: the agent's own name on PATH. */
  readonly binary?: string | undefined
  /** Appended to the arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly inherit_env: readonly string[]
  readonly home: 'isolated' | 'host'
  readonly models: readonly string[]
}

export interface CliPlace {
  /** Absolute: the base of relative paths in the configuration. */
  readonly base: string
  readonly isRoot: boolean
  /** Absolute: a cache that all trials of this agent may share. It may be deleted, and may not exist yet. */
  readonly cache: string
}

export interface CliLaunch {
  /** Arguments after the program's name. */
  readonly args: readonly string[]
  /** Overrides the request's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Written to the program's stdin; without it stdin is empty. */
  readonly stdin?: string
  /** Written before the start, with their directories. Absolute; inside HOME or TMPDIR, never in the workspace. */
  readonly files?: readonly { readonly path: string; readonly content: string }[]
  /** Settings that have no effect. */
  readonly warnings?: readonly string[]
}
