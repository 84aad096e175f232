import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { counted } from '../../src/core/counted.ts'
import { splitDiff } from '../../src/report/split-diff.ts'
import { useApi } from '../api/client.ts'
import type { Trial } from '../api/operations.ts'
import { type Piece, useHighlight } from './highlight.ts'
import { Answer, Empty } from './states.tsx'

interface DiffLine {
  readonly kind: 'add' | 'remove' | 'same' | 'hunk' | 'other'
  readonly before: number | null
  readonly after: number | null
  readonly text: string
}

/** Files above this many lines are opened by the person. */
const foldedAbove = 400

/** What the agent changed: the template against the end. */
export function Changes({
  run,
  trial,
  changes,
  more,
  open,
}: {
  readonly run: string
  readonly trial: string
  readonly changes: Trial['changes']
  readonly more: Trial['more_changes']
  /** A file that a gate points to. */
  readonly open: string | undefined
}) {
  if (more === null) return <Empty title="The changes are too large to be shown. See workspace.diff." />
  if (changes.length === 0 && more === 0) return <Empty title="The agent changed no file." />
  return (
    <>
      {changes.map((file) => (
        <ChangedFile key={file.path} file={file} isWanted={file.path === open ? true : null}>
          {() => <FileDiff run={run} trial={trial} path={file.path} />}
        </ChangedFile>
      ))}
      <NotShown files={more} />
    </>
  )
}

/** A whole diff, file by file. Where some files are wanted, the others are folded. */
export function Diff({ text, wanted }: { readonly text: string; readonly wanted?: readonly string[] }) {
  const { files, more } = useMemo(() => splitDiff(text), [text])
  if (files.length === 0 && more === 0) return <Empty title="No file was changed." />
  return (
    <>
      {files.map((file) => (
        <ChangedFile key={file.path} file={file} isWanted={wanted?.includes(file.path) ?? null}>
          {() => <DiffText text={file.text} path={file.path} />}
        </ChangedFile>
      ))}
      <NotShown files={more} />
    </>
  )
}

function NotShown({ files }: { readonly files: number }) {
  return files > 0 && <p role="note">{counted(files, 'more file')} changed, not shown.</p>
}

function ChangedFile({
  file,
  isWanted,
  children,
}: {
  readonly file: Trial['changes'][number]
  /** null: a short one is open. */
  readonly isWanted: boolean | null
  readonly children: () => ReactNode
}) {
  const [isOpen, setOpen] = useState<boolean | null>(null)
  const shown = isOpen ?? isWanted ?? file.lines <= foldedAbove
  return (
    <details className="file" open={shown} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{file.path}</code> <span className="added">+{file.added}</span>{' '}
        <span className="removed">−{file.removed}</span>
      </summary>
      {shown && children()}
    </details>
  )
}

function FileDiff({
  run,
  trial,
  path,
}: {
  readonly run: string
  readonly trial: string
  readonly path: string
}) {
  const query = useApi(
    'trialDiff',
    { path: { run, trial }, query: { path } },
    { staleTime: Number.POSITIVE_INFINITY },
  )
  return (
    <Answer query={query} what={path}>
      {(text) => <DiffText text={text} path={path} />}
    </Answer>
  )
}

const maxLines = 5_000

/** A unified diff, as text nodes. */
function DiffText({ text, path }: { readonly text: string; readonly path: string }) {
  const lines = useMemo(() => linesOf(text), [text])
  const before = useMemo(() => side(lines, 'add'), [lines])
  const after = useMemo(() => side(lines, 'remove'), [lines])
  const [old, now] = [useHighlight(before.text, path), useHighlight(after.text, path)]
  const piecesOf = (at: number, kind: DiffLine['kind']): readonly Piece[] | undefined => {
    const [pieces, { places }] = kind === 'remove' ? [old, before] : [now, after]
    const place = places.get(at)
    return place === undefined ? undefined : pieces?.[place]
  }
  return (
    <div className="diff" role="figure" tabIndex={0} aria-label={`changes of ${path}`}>
      {lines.slice(0, maxLines).map((line, at) => (
        <div key={at} className={`diff-line d-${line.kind}`}>
          <span className="diff-number">{line.before ?? ''}</span>
          <span className="diff-number">{line.after ?? ''}</span>
          <span className="diff-sign">{signs[line.kind]}</span>
          <span className="diff-text">
            <Pieces text={line.text} pieces={piecesOf(at, line.kind)} />
          </span>
        </div>
      ))}
      {lines.length > maxLines && <p>{lines.length - maxLines} more lines are in the file.</p>}
    </div>
  )
}

/** The text of one side of a diff, and which of its lines each line of the diff is. */
function side(lines: readonly DiffLine[], without: 'add' | 'remove') {
  const places = new Map<number, number>()
  const texts: string[] = []
  for (const [at, { kind, text }] of lines.entries()) {
    if (kind === without || kind === 'hunk' || kind === 'other') continue
    places.set(at, texts.length)
    texts.push(text)
  }
  return { text: texts.join('\n'), places }
}

/** A line in colours, as text nodes; plain where the pieces are not those of the line. */
function Pieces({ text, pieces }: { readonly text: string; readonly pieces: readonly Piece[] | undefined }) {
  if (pieces === undefined || pieces.map((piece) => piece.text).join('') !== text) return text
  return pieces.map((piece, at) => (
    <span key={at} className={piece.className}>
      {piece.text}
    </span>
  ))
}

/** A file with numbered lines, in colours. */
export function FileLines({
  text,
  path,
  mark = 0,
}: {
  readonly text: string
  readonly path: string
  /** From 1. */
  readonly mark?: number
}) {
  const pieces = useHighlight(text, path)
  const lines = useMemo(() => text.replace(/\n$/, '').split('\n'), [text])
  const isShown = lines.length > 0
  useEffect(() => {
    if (isShown) document.getElementById(`line-${mark}`)?.scrollIntoView({ block: 'center' })
  }, [mark, isShown])
  return (
    <div className="diff" role="figure" tabIndex={0} aria-label={path}>
      {lines.slice(0, maxLines).map((line, at) => (
        <div key={at} id={`line-${at + 1}`} className={`diff-line${at + 1 === mark ? ' d-mark' : ''}`}>
          <span className="diff-number">{at + 1}</span>
          <span className="diff-text">
            <Pieces text={line} pieces={pieces?.[at]} />
          </span>
        </div>
      ))}
      {lines.length > maxLines && <p>{lines.length - maxLines} more lines are in the file.</p>}
    </div>
  )
}

const signs = { add: '+', remove: '−', same: '', hunk: '', other: '' } as const

function linesOf(text: string): DiffLine[] {
  let [before, after] = [0, 0]
  let isInHunk = false
  return text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line): DiffLine[] => {
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
      if (hunk !== null) {
        ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
        isInHunk = true
        return [{ kind: 'hunk', before: null, after: null, text: line }]
      }
      if (!isInHunk)
        return /^(?:---|\+\+\+|diff|index) /.test(line)
          ? []
          : [{ kind: 'other', before: null, after: null, text: line }]
      const rest = line.slice(1)
      if (line.startsWith('+')) return [{ kind: 'add', before: null, after: after++, text: rest }]
      if (line.startsWith('-')) return [{ kind: 'remove', before: before++, after: null, text: rest }]
      if (line.startsWith('\\')) return [{ kind: 'other', before: null, after: null, text: line }]
      return [{ kind: 'same', before: before++, after: after++, text: rest }]
    })
}
