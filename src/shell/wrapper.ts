import type { Arg } from './shell-state.ts'

/** How to find the command that a program runs. */
export interface Wrapper {
  /**
   * All its options, synonyms joined with commas: `-u,--user: -H -E?`. The sign after an option says what follows it:
   * nothing a flag, `:` a value, attached or in the next word, `?` a value that can only be attached, `::` two words,
   * `/` the directory in which the command runs, `!` a text for a shell, `&` nothing, but the command is a text for a shell,
   * `>` the command, to the end, `@` the program, whose arguments are the words.
   */
  readonly options?: string
  /** Only its options with `=` have a value, so that an unknown one is never followed by one. */
  readonly attachedOnly?: true
  /** Words before the command: the duration of `timeout`. */
  readonly operands?: number
  /** Options may also follow these operands. */
  readonly permutes?: true
  /** It runs another command only with one of these subcommands. */
  readonly subcommands?: Readonly<Record<string, Wrapper>>
  /** Any other first operand is the command, unless it is one of these subcommands that run nothing. */
  readonly ownVerbs?: readonly string[]
  /** The command is a text for a shell: its words joined with this, or only the first one. */
  readonly joined?: ' ' | '\n' | 'first'
  /** The first word of the command is a text for a shell when it is not a plain name. */
  readonly textual?: true
  /** The words after the options belong to the text of a `!` option. */
  readonly appends?: true
  /** A user follows, and then arguments for a shell: `su`. With one of these options a command follows instead. */
  readonly login?: readonly string[]
  /** The words, or with `afterDashes` those after `--`, are arguments of this program. */
  readonly argumentsOf?: string
  /** Its first operands that are not the command. */
  readonly skipped?: RegExp
  /** With `--` the command begins there, whatever stands before. */
  readonly afterDashes?: true
  /** A prefix of the command's name: `hatch run ENVIRONMENT:tool`. */
  readonly prefix?: RegExp
  /** A word that ends the command, and begins another call: `;` of tmux. */
  readonly separator?: string
  /** A word after which the command does not go on: `:::` of parallel. */
  readonly ends?: RegExp
  /** An unknown word before the command counts as assignments: `env $(cat settings) program`. */
  readonly takesUnknown?: true
  /** With this first option it only describes the command: `command -v`. */
  readonly describes?: RegExp
  /** It runs the command unchanged when all its options match. Absent: it never counts as unchanged. */
  readonly plain?: RegExp
  /** It runs a program of the project and nothing else when all its options match. Absent: it never counts as that. */
  readonly launch?: RegExp
  readonly limited?: true
  /** `same` when absent. */
  readonly exit?: ExitRelation
}

/** What a command that runs another one runs: a command in words, or a text for a shell. */
export type Unwrapped = UnwrappedWords | UnwrappedScript

interface UnwrappedWords extends WrapperEffect {
  readonly kind: 'words'
  readonly words: readonly Arg[]
}

interface UnwrappedScript extends WrapperEffect {
  readonly kind: 'script'
  readonly source: string
}

/** What a wrapper does besides running a command. */
export interface WrapperEffect {
  /** `NAME=value` words that it sets for the command. */
  readonly assignments: readonly string[]
  /** The directory it changes to first; null when it stays. */
  readonly directory: string | null
  readonly exit: ExitRelation
  /** It runs the command unchanged and ends as the command ends, apart from `assignments` and `limited`. */
  readonly plain: boolean
  /** It runs a program of the project in the project's own environment, and ends as the program ends. */
  readonly launches: boolean
  /** It may stop the command after a time, with exit code 124. */
  readonly limited: boolean
  /** No word on the way to the command was unclear: every option is known. */
  readonly certain: boolean
  /** A package manager looks it up: it may be a script or program of the project with the name of a known one. */
  readonly named: boolean
}

/** `same`: it ends as the command. `similar`: zero means success, other codes are its own. `none`: its end says nothing. */
export type ExitRelation = 'same' | 'similar' | 'none'

/** The same wrapper under several names. */
export function named(names: string, wrapper: Wrapper): Readonly<Record<string, Wrapper>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, wrapper]))
}
