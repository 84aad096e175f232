import { z } from 'zod'

/** A module of the user: JavaScript, or TypeScript that Node runs as it is. */
export const modulePath = z.string().regex(/\.(js|mjs|ts)$/, 'expected the path of a .js, .mjs or .ts file')
