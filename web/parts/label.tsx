import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call, exported, useApi } from '../api/client.ts'
import type { Trial } from '../api/operations.ts'
import { useKeys } from './keys.tsx'
import { Problem } from './states.tsx'

/** Whether a person finds the result good: two keys, and a note. */
export function LabelTrial({ answer }: { readonly answer: Trial }) {
  const { run, trial_id: trial, label, record } = answer
  const queries = useQueryClient()
  const { data } = useApi('about', {}, { staleTime: 60_000 })
  const [error, setError] = useState<unknown>(null)
  const note = useRef<HTMLInputElement>(null)
  const isPossible = exported === null && record !== null && data?.project != null
  const give = (value: 'pass' | 'fail'): void => {
    if (!isPossible) return
    const text = note.current?.value.trim() ?? ''
    call('labelTrial', {
      path: { run: run.id, trial },
      body: { label: value, ...(text !== '' && { note: text }) },
    }).then(() => {
      setError(null)
      for (const name of ['getTrial', 'listLabels', 'calibration'])
        void queries.invalidateQueries({ queryKey: [name] })
    }, setError)
  }
  useKeys([
    { key: '+', label: 'label: the result is good', run: () => give('pass') },
    { key: '-', label: 'label: the result is bad', run: () => give('fail') },
  ])
  if (!isPossible) return null
  return (
    <fieldset className="label">
      <legend>Your label</legend>
      <button type="button" aria-pressed={label?.label === 'pass'} onClick={() => give('pass')}>
        good <kbd>+</kbd>
      </button>
      <button type="button" aria-pressed={label?.label === 'fail'} onClick={() => give('fail')}>
        bad <kbd>-</kbd>
      </button>
      <label className="field grow">
        <span className="hidden">Note</span>
        <input ref={note} placeholder="note, why" defaultValue={label?.note ?? ''} maxLength={4_000} />
      </label>
      {error !== null && <Problem error={error} />}
    </fieldset>
  )
}
