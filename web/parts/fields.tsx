import { useEffect, useState } from 'react'

interface FieldProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

export function Choice({
  label,
  value,
  onChange,
  options,
}: FieldProps & { readonly options: readonly string[] }) {
  const all = value === undefined || options.includes(value) ? options : [value, ...options]
  if (all.length === 0) return null
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">all</option>
        {all.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
}

const waitMs = 200

/** A search field. It answers when the person stops typing. */
export function Search({ label, value, onChange }: FieldProps) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => {
    if (text === (value ?? '')) return
    const timer = setTimeout(() => onChange(text === '' ? undefined : text), waitMs)
    return () => clearTimeout(timer)
  })
  return (
    <label className="field grow">
      <span>{label}</span>
      <input
        type="search"
        data-search
        placeholder="/"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  )
}

/** A row of choices of which one is on. */
export function Chips({
  label,
  value,
  options,
  onChange,
}: Omit<FieldProps, 'value'> & {
  readonly value: string | undefined
  readonly options: readonly (readonly [value: string | undefined, name: string])[]
}) {
  return (
    <fieldset className="chips">
      <legend className="hidden">{label}</legend>
      {options.map(([option, name]) => (
        <button
          key={name}
          type="button"
          className="chip"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}
