import type { Boundary } from './contract.ts'

/** A boundary that is opened on first use and closed with the scope: most runs need none. */
export function lazyBoundary(): AsyncDisposable & { get(): Promise<Boundary> } {
  let opened: Promise<Boundary> | undefined
  const open = async (): Promise<Boundary> => {
    const { openBoundary } = await import('./open-boundary.ts')
    return openBoundary({})
  }
  return {
    get: () => {
      opened ??= open()
      return opened
    },
    [Symbol.asyncDispose]: async () => {
      // The caller that failed to open it already has the error.
      await opened?.then((boundary) => boundary.close()).catch(() => {})
    },
  }
}
