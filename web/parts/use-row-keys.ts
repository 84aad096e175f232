import { useState } from 'react'
import { useKeys } from './keys.tsx'

/** `j` and `k` move through a list, Enter opens. Returns the chosen row; -1 before the first key. */
export function useRowKeys(
  rows: number,
  open: (index: number) => void,
  show: (index: number) => void = () => {},
  what = 'row',
): readonly [number, (index: number) => void] {
  const [chosen, setChosen] = useState(-1)
  const move = (by: number): void => {
    const next = Math.max(0, Math.min(rows - 1, chosen + by))
    if (rows === 0) return
    setChosen(next)
    show(next)
  }
  useKeys([
    { key: 'j', label: `next ${what}`, run: () => move(1) },
    { key: 'k', label: `previous ${what}`, run: () => move(-1) },
    { key: 'Enter', label: `open the ${what}`, run: () => chosen >= 0 && open(chosen) },
  ])
  return [chosen, setChosen]
}
