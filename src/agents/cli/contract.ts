import type { AgentRequest, AgentSession, SessionRequest } from '../contract.ts'
import type { StreamParser } from '../stream.ts'

/**
 * What is peculiar to one agent that is a command-line program with a structured output. Everything else (starting it,
 * reading its lines, limits, stopping it with all it started) is the same for all and lives in this folder.
 */
export interface CliAgent<Config extends CliConfig> {
  /** The driver's name in gantry.yaml. */
  readonly driver: string
  /** What the program is called on PATH. */
  readonly program: string
  /** The command that installs it. */
  readonly install: string
  /** `from` is the oldest version the driver was tried with, `below` the first it does not promise to understand. */
  readonly supported: { readonly from: string; readonly below: string }
  readonly credentials: readonly string[]
  readonly reportsCost: boolean
  /** It exits before a long output to a pipe has left it. */
  readonly losesOutput?: true
  /** Arguments that print the version. Default `--version`. */
  readonly versionArgs?: readonly string[]
  /** Pure. What is to be started, and the files that must be there before. */
  launch(config: Config, request: AgentRequest, place: CliPlace): CliLaunch
  createParser(): StreamParser
  /** Set when it can be kept alive for many prompts. */
  readonly live?: LiveMode<Config>
  /** Files and directories that the settings name and the behaviour depends on; relative ones start at the configuration. */
  inputs?(config: Config): readonly string[]
  /** Of an environment that is not behind the boundary: is the agent authenticated? null = cannot be known without a request. */
  isAuthenticated?(env: Readonly<Record<string, string>>): boolean | null
}

/** How such an agent is started when it is to answer prompt after prompt, and the talk with it. */
export interface LiveMode<Config extends CliConfig> {
  /** Pure, as `launch` of the agent; it has no stdin. */
  launch(config: Config, request: SessionRequest, place: CliPlace): CliLaunch
  /** Starts it and emits `spawn`; a failed start is the outcome of the first prompt. */
  open(start: CliStart, request: SessionRequest): Promise<AgentSession>
}

/** A program that is there, ready to be started. */
export interface CliStart {
  /** The name the user gave the agent. */
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  /** The whole environment of the process. */
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
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
  readonly isRoot: boolean
  /** Absolute: a cache that all trials of this agent may share. It may be deleted, and need not exist yet. */
  readonly cache: string
}

export interface CliLaunch {
  /** Behind the program's name. */
  readonly args: readonly string[]
  /** Laid over the request's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Written to the program's stdin; without it stdin is empty. */
  readonly stdin?: string
  /** Written before the start, with their directories. Absolute; inside HOME or TMPDIR, never in the workspace. */
  readonly files?: readonly { readonly path: string; readonly content: string }[]
  /** Settings that could not act. */
  readonly warnings?: readonly string[]
}

/** One agent of the configuration. */
export interface CliInstance<Config extends CliConfig> {
  /** The name the user gave it. */
  readonly name: string
  readonly config: Config
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}
