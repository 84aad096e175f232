import { type ReactNode, useMemo, useState } from 'react'
import { splitDiff } from '../../src/report/split-diff.ts'
import { useApi } from '../api/client.ts'
import type { Trial } from '../api/operations.ts'
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
  open,
}: {
  readonly run: string
  readonly trial: string
  readonly changes: Trial['changes']
  /** A file that a gate points to. */
  readonly open: string | undefined
}) {
  if (changes.length === 0) return <Empty title="The agent changed no file." />
  return (
    <>
      {changes.map((file) => (
        <ChangedFile key={file.path} file={file} isWanted={file.path === open ? true : null}>
          {() => <FileDiff run={run} trial={trial} path={file.path} />}
        </ChangedFile>
      ))}
    </>
  )
}

/** A whole diff, file by file. Where some files are wanted, the others are folded. */
export function Diff({ text, wanted }: { readonly text: string; readonly wanted?: readonly string[] }) {
  const files = useMemo(() => splitDiff(text), [text])
  if (files.length === 0) return <Empty title="No file was changed." />
  return (
    <>
      {files.map((file) => (
        <ChangedFile key={file.path} file={file} isWanted={wanted?.includes(file.path) ?? null}>
          {() => <DiffText text={file.text} path={file.path} />}
        </ChangedFile>
      ))}
    </>
  )
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
  return (
    <div className="diff" role="figure" tabIndex={0} aria-label={`changes of ${path}`}>
      {lines.slice(0, maxLines).map((line, at) => (
        <div key={at} className={`diff-line d-${line.kind}`}>
          <span className="diff-number">{line.before ?? ''}</span>
          <span className="diff-number">{line.after ?? ''}</span>
          <span className="diff-sign">{signs[line.kind]}</span>
          <span className="diff-text">{line.text}</span>
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
