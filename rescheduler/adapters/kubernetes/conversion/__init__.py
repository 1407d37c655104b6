"""From decoded API objects to the model: everything that Kubernetes leaves implicit is made explicit here."""
