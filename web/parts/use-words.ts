import { useNavigate, useSearch } from '@tanstack/react-router'

/** The words of the address after `?`, and a way to change some of them. A change does not make a step in the history. */
export function useWords(): readonly [
  Readonly<Record<string, string | undefined>>,
  (change: Record<string, string | undefined>) => void,
] {
  const words = useSearch({ strict: false }) as Record<string, string | undefined>
  const navigate = useNavigate()
  const change = (next: Record<string, string | undefined>): void =>
    void navigate({
      to: '.',
      replace: true,
      resetScroll: false,
      search: (before: Record<string, string>) =>
        Object.fromEntries(
          Object.entries({ ...before, ...next }).filter(([, value]) => value !== undefined && value !== ''),
        ),
    } as never)
  return [words, change]
}
