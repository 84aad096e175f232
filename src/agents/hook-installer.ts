import type { GuardedAgent } from '../core/hook-event.ts'

/** How to make one agent's configuration call a hook. Pure: text in, text out; the guard reads and writes the files. */
export interface HookInstaller {
  readonly agent: GuardedAgent
  /** Names of the agent's program on PATH, the usual one first. */
  readonly executables: readonly string[]
  /** Files and directories that show that a project uses the agent. */
  readonly projectMarks: readonly string[]
  /** Set where the agent can run its commands through a program of ours: the program that the file names for that, or null. */
  shellPrefix?(text: string | null): string | null
  /** Set where the agent's own sandbox can keep files from being changed by its commands. */
  readonly sandbox?: AgentSandbox
  /** What `gantry guard prove` needs to run the agent; null for an agent without a driver. */
  readonly proof: ProofTraits | null
  readonly scopes: readonly HookScope[]
  /** All files that control the agent's hooks; all of them are protected. The first is the one we write. */
  files(scope: HookScope, place: HookPlace): readonly string[]
  /** The file with our hooks: others and comments are kept, ours are replaced by those of `command`. `text` null: no file yet. */
  install(text: string | null, command: HookCommand): string
  /** Without our hooks; null when nothing else is left and the file was only ours. */
  uninstall(text: string): string | null
  /** Throws GantryError INVALID_FILE for a file that does not parse. */
  inspect(text: string | null, command: HookCommand): HookPresence
  /** Absolute paths of the programs of our hooks in this text: a Node and a script, of any version. Empty when there are none. */
  programs(text: string): readonly string[]
  /** Why the agent does not run our hooks although one of `files` has them; gets all of `files`, in any order. */
  switchedOff?(files: readonly HookFileText[], place: HookPlace): string | null
  /** Set where a person must trust a hook before the agent runs it, in a way that no file shows: what to do. */
  readonly needsTrust?: string
  /** What else a person must do, such as trusting the hook in the agent's own dialog. */
  readonly afterwards: readonly string[]
}

/** The settings of an agent's own sandbox, for a project, in a file without hooks. Pure, as an installer. */
export interface AgentSandbox {
  file(place: HookPlace): string
  /** With these files, relative to the project, read-only for commands. */
  install(text: string | null, readOnly: readonly string[]): string
  /** null when nothing else is left. */
  uninstall(text: string): string | null
  /** The files that our settings in this text make read-only; null when there are none of ours. */
  readOnlyIn(text: string | null): readonly string[] | null
  /** Why the agent would not use our settings: settings of the user decide, and are not changed. Gets all of `files`. */
  overruled(files: readonly HookFileText[]): string | null
}

/** How to make an agent demonstrate its hooks. */
export interface ProofTraits {
  /** Further keys, for an agent whose own sandbox must decide. */
  readonly sandboxed?: Readonly<Record<string, unknown>>
  /** The required keys in gantry.yaml. */
  readonly config: Readonly<Record<string, unknown>>
  /** How to trigger a compaction; null where that is impossible from outside. */
  readonly compaction: CompactionTrick | null
}

export type CompactionTrick =
  /** A model that reports this many tokens has a full context. */
  | {
      readonly kind: 'full_context'
      readonly config: Readonly<Record<string, unknown>>
      readonly inputTokens: number
    }
  /** A prompt that is a command of the agent, sent to the session of an earlier run. */
  | {
      readonly kind: 'command'
      readonly prompt: string
      /** Keys in gantry.yaml to continue a session. */
      goOn(session: string): Readonly<Record<string, unknown>>
    }

export interface HookFileText {
  readonly path: string
  /** null when it does not exist. */
  readonly text: string | null
}

export type HookScope = 'project' | 'user' | 'plugin'

export interface HookPlace {
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Absolute, so that the agent's PATH does not decide which program runs. */
export interface HookCommand {
  readonly program: string
  readonly args: readonly string[]
  /** The hook does nothing unless one of these paths exists; absent: it always runs. */
  readonly onlyIf?: readonly string[]
  /** The program through which the agent runs commands with protected files read-only. null: remove ours. Absent: leave it as it is. */
  readonly shellPrefix?: string | null
}

export type HookPresence =
  | { readonly kind: 'absent' }
  | { readonly kind: 'installed' }
  /** Installed, but with another program, other events or other arguments than now. */
  | { readonly kind: 'outdated'; readonly differences: readonly string[] }
  /** Installed, but the agent will not run it, for example because of `disableAllHooks`. */
  | { readonly kind: 'disabled'; readonly why: string }
