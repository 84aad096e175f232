import type { ParsedScript, ProcessSubstitutionPart, SyntaxNode, Word } from 'unbash'
import type { Char } from './glob-reg-exp.ts'
import type { World } from './world.ts'

/**
 * The state of a shell at one point of a command. Immutable: each step creates a new one. Every path that a command may take has its
 * own state.
 */
export interface ShellState {
  /** null: not known. */
  readonly cwd: string | null
  readonly variables: ReadonlyMap<string, ShellValue>
  readonly functions: ReadonlyMap<string, SyntaxNode>
  readonly aliases: ReadonlyMap<string, string>
  /** `$1` and on. */
  readonly parameters: readonly string[]
  /** `dotglob`, `nocaseglob`, `globstar`. */
  readonly options: ReadonlySet<string>
  /** What the next command would read; null when it is not known. */
  readonly stdin: string | null
  /** Files behind descriptors, by number or name. */
  readonly descriptors: ReadonlyMap<string, string>
  /** What the command itself has made so far. */
  readonly made: CreatedFiles
  /** `$_` */
  readonly lastWord: string
  /** After `exit`. */
  readonly ended: boolean
}

export interface CreatedFiles {
  /** Symbolic links, by absolute path. */
  readonly links: ReadonlyMap<string, string>
  /** Content of files, as far as it is known, by absolute path. */
  readonly files: ReadonlyMap<string, string>
  readonly directories: ReadonlySet<string>
}

export type ShellValue = string | readonly string[]

/** One way a command may end. */
export interface CommandOutcome {
  readonly state: ShellState
  /** null: either. */
  readonly ok: boolean | null
  /** What it prints; null when it is not known. */
  readonly out: string | null
}

/** A word after all expansions (`value`), and as written in the command (`text`). */
export interface Arg {
  readonly value: string
  readonly text: string
}

/** A command with its words, ready to run. */
export interface ProgramCall {
  readonly name: string
  readonly args: readonly Arg[]
  readonly state: ShellState
  readonly shell: Shell
}

/** Returns nothing when nothing about the shell changes. */
export type Program = (invocation: ProgramCall) => ShellState | undefined

export interface WriteDetails {
  /** The name itself is replaced or removed, not what a link at it leads to. */
  readonly entry?: boolean
  /** Everything below `look` is changed at the same place below the target. */
  readonly look?: string
  /** Of what is below, only this: by its path. */
  readonly only?: (path: string) => boolean
}

/** The interface between the parts of the interpreter. */
export interface Shell {
  readonly world: World
  /** Records that a file would be created, changed or removed. */
  write(target: Arg, how: string, state: ShellState, details?: WriteDetails): void
  /** Records that files with unknown names would be created in a directory. */
  fill(directory: Arg, how: string, state: ShellState): void
  /**
   * Records something that cannot be judged: `text` and the whole command, with `apart` only `text`, or with `exact` only `text`, which is
   * a name.
   */
  opaque(text: string, why: string, details?: { readonly exact?: boolean; readonly apart?: boolean }): void
  /** Records a search, such as `find`; the number means what it finds. */
  search(roots: readonly string[], matches: (path: string) => boolean): number
  /** Records that a program gets what a search finds, if the text means that. */
  given(text: string, program: string): void
  /** The same search with one more condition, as a new number. */
  narrow(index: number, keep: (path: string) => boolean): number
  expand(word: Word, at: Cursor): readonly Arg[]
  /** Without splitting and globs, as in an assignment. */
  expandWhole(word: Word, at: Cursor): string
  /** Quoted characters mean themselves. */
  expandPattern(word: Word, at: Cursor): readonly Char[]
  /** Runs the substitutions inside tests, arithmetic and patterns. */
  visit(node: SyntaxNode, state: ShellState): void
  /** A path the shell would open for `<(…)` and `>(…)`. */
  substituteProcess(part: ProcessSubstitutionPart, at: Cursor): string
  /** The output of a command substitution. */
  substitute(script: ParsedScript | undefined, state: ShellState): string
  run(words: readonly Arg[], state: ShellState): readonly CommandOutcome[]
  /** Runs a text as shell. `sure`: records only what is certain, as for an existing file. */
  script(source: string, state: ShellState, how?: 'sure'): readonly CommandOutcome[]
  /** Runs the body of a function. */
  call(node: SyntaxNode, state: ShellState): readonly CommandOutcome[]
  body(node: SyntaxNode, state: ShellState): readonly CommandOutcome[]
  /** Drops ways when there are too many to follow. */
  few(outcomes: readonly CommandOutcome[]): readonly CommandOutcome[]
  /** Counts a step; true after too many. */
  spent(): boolean
  /** How many rounds of a loop are followed when it could have so many. */
  rounds(wanted: number): number
  /** A word from its source text, after brace expansion. */
  word(text: string): Word | undefined
}

/** The state while the words of one command are expanded: `${x:=y}` assigns. */
export interface Cursor {
  state: ShellState
}

export function argOf(value: string): Arg {
  return { value, text: value }
}
