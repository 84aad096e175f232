import { GantryError } from '../core/error.ts'

/** Whatever is thrown by work that was aborted is told in one way. */
export async function uninterrupted<T>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (cause) {
    if (!signal.aborted || (cause instanceof GantryError && cause.code === 'INTERRUPTED')) throw cause
    throw new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause })
  }
}
