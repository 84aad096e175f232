import { useEffect, useRef, useState } from 'react'

interface Key {
  readonly key: string
  readonly label: string
  readonly run: () => void
}

const active = new Map<string, Key[]>()
const order = ['/', 'j', 'k', 'Enter', 'Escape']
/** Elements that do something themselves after Enter or the space bar. */
const pressable = 'a, button, summary, [role=tab]'
/** Keys that choose another row. */
const moving = ['j', 'k', 'J', 'K', 'f']

/** Keys of a view, while it is shown. The newest view wins. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys)
  latest.current = keys
  const names = keys.map(({ key }) => key).join(' ')
  useEffect(() => {
    const added = names.split(' ').map((key) => {
      const own: Key = {
        key,
        get label() {
          return latest.current.find((one) => one.key === key)?.label ?? ''
        },
        run: () => latest.current.find((one) => one.key === key)?.run(),
      }
      active.set(key, [...(active.get(key) ?? []), own])
      return own
    })
    return () => {
      for (const own of added)
        active.set(
          own.key,
          (active.get(own.key) ?? []).filter((one) => one !== own),
        )
    }
  }, [names])
}

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (isTyping) {
    if (event.key === 'Escape') target.blur()
    return
  }
  if (document.querySelector('dialog[open]') !== null && event.key !== '?') return
  const pressed = target.closest<HTMLElement>(pressable)
  if (pressed !== null && (event.key === 'Enter' || event.key === ' ')) return
  const own = active.get(event.key)?.at(-1)
  if (own === undefined) return
  event.preventDefault()
  // Enter is then for the row that was chosen, not for what was pressed before.
  if (moving.includes(event.key)) pressed?.blur()
  own.run()
}

/** Listens for keys and shows them after `?`. */
export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [keys, setKeys] = useState<readonly Key[]>([])
  useEffect(() => {
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  useKeys([
    {
      key: '?',
      label: 'show these keys',
      run: () => {
        const all = [...active.values()].flatMap((list) => list.at(-1) ?? [])
        const rank = ({ key }: Key): number => (order.includes(key) ? order.indexOf(key) : 99)
        setKeys(all.toSorted((a, b) => rank(a) - rank(b)))
        if (dialog.current?.open === true) dialog.current.close()
        else dialog.current?.showModal()
      },
    },
  ])
  return (
    <dialog ref={dialog} className="keys" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {keys.map(({ key, label }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}
