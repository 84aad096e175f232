/**
 * Containers of this process that could not be removed when they were closed, for want of an engine, and how their layers are removed.
 * The next sweep may take them.
 */
export const abandoned: Map<string, () => Promise<string | null>> = new Map()
