import type { GuardedAgent } from '../core/hook-event.ts'

/** How one agent's configuration is made to call a hook. Pure: text in, text out; the guard reads and writes the files. */
export interface HookInstaller {
  readonly agent: GuardedAgent
  /** Names of the agent's program on PATH, the usual one first. */
  readonly executables: readonly string[]
  /** Files and directories of a project that show that the agent is used there. */
  readonly projectMarks: readonly string[]
  /** Set where a hook must be a program without arguments of its own; the agent's `hook-config.ts` says why. */
  readonly needsLauncher?: true
  /** What `gantry guard prove` must know to run the agent; null for an agent without a driver. */
  readonly proof: ProofTraits | null
  readonly scopes: readonly HookScope[]
  /** All files that control the agent's hooks; all of them are guarded. The first is the one we write. */
  files(scope: HookScope, place: HookPlace): readonly string[]
  /** The file with our hooks in it: foreign ones and comments kept, ours replaced by what `command` says. `text` null: no file yet. */
  install(text: string | null, command: HookCommand): string
  /** Without our hooks; null when nothing else is left and the file was ours alone. */
  uninstall(text: string): string | null
  /** Throws GantryError INVALID_FILE for a file that does not parse. */
  inspect(text: string | null, command: HookCommand): HookPresence
  /** Absolute paths of what our hooks in this text start: a Node and a script, of any version. Empty when no hook is ours. */
  programs(text: string): readonly string[]
  /** Why the agent does not run our hooks although one of `files` has them: given all of `files`, in any order. */
  switchedOff?(files: readonly HookFileText[], place: HookPlace): string | null
  /** Set where the agent runs a hook only after a person trusted it in a way no file shows: what the person has to do. */
  readonly needsTrust?: string
  /** What a person has to do besides, such as trusting the hook in the agent's own dialog. */
  readonly afterwards: readonly string[]
}

/** How an agent is made to show its hooks at work. */
export interface ProofTraits {
  /** Keys in gantry.yaml it needs for that. */
  readonly config: Readonly<Record<string, unknown>>
  /** How it is made to compact its history; null where that cannot be caused from outside. */
  readonly compaction: CompactionTrick | null
}

export type CompactionTrick =
  /** A model that reports this many tokens has a full context. */
  | {
      readonly kind: 'full_context'
      readonly config: Readonly<Record<string, unknown>>
      readonly inputTokens: number
    }
  /** A prompt that is a command of the agent, given to the session of an earlier run. */
  | {
      readonly kind: 'command'
      readonly prompt: string
      /** Keys in gantry.yaml that make it continue a session. */
      goOn(session: string): Readonly<Record<string, unknown>>
    }

export interface HookFileText {
  readonly path: string
  /** null when it is not there. */
  readonly text: string | null
}

export type HookScope = 'project' | 'user' | 'plugin'

export interface HookPlace {
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The program by its absolute path, so that no PATH of the agent decides what is run. */
export interface HookCommand {
  readonly program: string
  readonly args: readonly string[]
  /** Version of the agent, when known: newer fields are written only for a version that has them. */
  readonly agentVersion: string | null
}

export type HookPresence =
  | { readonly kind: 'absent' }
  | { readonly kind: 'installed' }
  /** There, but another program, other events or other arguments than now. */
  | { readonly kind: 'outdated'; readonly differences: readonly string[] }
  /** There, but the agent will not run it: `disableAllHooks` and the like. */
  | { readonly kind: 'disabled'; readonly why: string }
