import { readOptions } from '../../../shell/options.ts'
import { argOf } from '../../../shell/shell-state.ts'
import { unknownPart } from '../../../shell/unknown-part.ts'
import { type PossibleRun, programAt } from './attempt.ts'

interface DirectoryReader {
  /** The options with which it reads what is below a directory, long ones also shortened; none for a program that does so anyway. */
  readonly deep?: string
  /** Without one of these it passes over hidden files. */
  readonly hidden?: string
  /** The operand that it does not read: a target or a pattern. */
  readonly not?: 'first' | 'last'
  /** Options that give this operand instead. */
  readonly instead?: string
  readonly valued?: string
  /** Options whose values it reads. */
  readonly reads?: string
}

const copier: DirectoryReader = { not: 'last', instead: 't target-directory' }
const cp = { ...copier, deep: 'r R a recursive archive', valued: 't target-directory S suffix' }
const searcher: DirectoryReader = { not: 'first', instead: 'e regexp f file' }
const grep = {
  ...searcher,
  deep: 'r R recursive dereference-recursive',
  valued:
    'e regexp f file A after-context B before-context C context m max-count d directories D devices include exclude exclude-from exclude-dir label binary-files',
}
const ugrep = { ...searcher, hidden: '. hidden', valued: `${grep.valued} g glob t file-type J jobs` }
const fd = {
  not: 'first',
  deep: 'x X exec exec-batch',
  hidden: 'H hidden u unrestricted',
  valued:
    'd max-depth min-depth t type e extension E exclude S size c color j threads C base-directory search-path',
  reads: 'C base-directory search-path',
} as const

const table: Readonly<Record<string, DirectoryReader>> = {
  cp,
  gcp: cp,
  rsync: { not: 'last' },
  scp: { not: 'last' },
  zip: {},
  '7z': {},
  grep,
  egrep: grep,
  fgrep: grep,
  ggrep: grep,
  rgrep: { ...grep, deep: '' },
  ugrep,
  ug: ugrep,
  rg: {
    ...searcher,
    hidden: '. hidden u unrestricted',
    valued:
      'e regexp f file g glob iglob t type T type-not A after-context B before-context C context m max-count d max-depth j threads r replace E encoding M max-columns sort sortr pre pre-glob ignore-file color colors',
  },
  ag: {
    not: 'first',
    hidden: 'hidden u unrestricted',
    valued: 'G file-search-regex ignore ignore-dir m max-count depth p path-to-ignore W width',
  },
  fd,
  fdfind: fd,
}

/** The words of a run under which it reads everything, or everything that is not hidden. */
export function readBelow(run: PossibleRun): {
  readonly words: readonly string[]
  readonly skipsHidden: boolean
} {
  const at = programAt(run, (name) => Object.hasOwn(table, name) || archivers.test(name) || others.test(name))
  const name = run.names[at] ?? ''
  const args = run.words.slice(at + 1)
  if (at < 0 || run.loose) return { words: [], skipsHidden: false }
  if (archivers.test(name)) {
    const packs = args.some((word) => /^-?[a-zA-Z]*[cru]|^--create$/.test(word ?? ''))
    return { words: packs ? args.filter((word) => word !== null) : [], skipsHidden: false }
  }
  if (others.test(name)) return { words: readByOther(name, args), skipsHidden: false }
  const { deep = '', hidden, not, instead = '', valued, reads = '' } = table[name] ?? {}
  const options = readOptions(
    args.map((word) => argOf(word ?? unknownPart)),
    valued,
  )
  const { operands, given, has, values } = options
  const isDeep =
    deep === '' ||
    deep.split(' ').some((option) => [...given].some((each) => isShortFor(each, option))) ||
    values('d directories').some(({ value }) => value === 'recurse')
  if (!isDeep) return { words: [], skipsHidden: false }
  const first = not === 'first' && !has(instead) ? 1 : 0
  const end = not === 'last' && !has(instead) ? -1 : operands.length
  const read = [...operands.slice(first, end), ...values(reads)].map(({ value }) => value)
  return {
    words: read.length === 0 && not === 'first' ? ['.'] : read,
    skipsHidden: hidden !== undefined && !has(hidden),
  }
}

const archivers = /tar$|^cpio$/
const others = /^(?:git|python[\d.]*)$/

/** `git grep --no-index x dir`, `python3 -m zipfile -c out.zip dir`. */
function readByOther(name: string, args: PossibleRun['words']): readonly string[] {
  const plain = args.flatMap((word) => (word === null || word.startsWith('-') ? [] : [word]))
  if (name === 'git') return args.includes('--no-index') ? [...plain, ...(plain.length < 3 ? ['.'] : [])] : []
  const packs = args[0] === '-m' && /^(?:zip|tar)file$/.test(args[1] ?? '')
  return packs && args.some((word) => word === '-c' || word === '--create') ? plain : []
}

function isShortFor(given: string, option: string): boolean {
  return given === option || (given.length > 2 && option.startsWith(given))
}
