// The version of this copy, for other copies in the process; a test compares it with package.json.
export const VERSION = '0.1.0'
